//! A real repository: our documents lie between the files of other programs, and are answered for at its root.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use crate::support::{git, run, shown, upheld};

/// Files of ours: a mesh, a gateway, an access policy, a project with its tags.
const OURS: [(&str, &str); 5] = [
    (
        "mesh/mesh.yaml",
        "type: Mesh\nname: default\n---\ntype: Dataplane\nname: web-1\nmesh: default\n\
         networking: {address: 10.0.0.1, inbound: [{port: 80, tags: {kuma.io/service: web}}]}\n---\n\
         type: Dataplane\nname: backend-1\nmesh: default\n\
         networking: {address: 10.0.0.2, inbound: [{port: 80, tags: {kuma.io/service: backend}}]}\n",
    ),
    (
        "mesh/timeouts.yaml",
        "type: MeshTimeout\nname: all\nmesh: default\n\
         spec: {targetRef: {kind: Mesh}, to: [{targetRef: {kind: Mesh}, default: {idleTimeout: 7s}}]}\n",
    ),
    (
        "k8s/gateway.yaml",
        "apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {name: edge, namespace: web}\n\
         spec: {gatewayClassName: kgateway, listeners: [{name: http, protocol: HTTP, port: 80}]}\n---\n\
         apiVersion: v1\nkind: Service\nmetadata: {name: shop, namespace: web}\nspec: {ports: [{port: 80}]}\n---\n\
         apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: shop, namespace: web}\nspec: {}\n",
    ),
    (
        "access/permit.yaml",
        "- id: admins\n  effect: permit\n  subjects: [{role: admin}]\n  resources: [{path: /**}]\n  actions: [{method: GET}]\n",
    ),
    ("tags/project.yaml", "ref: project/a\ntags: {environment: [prod]}\n"),
];

/// Files of other programs.
const OTHERS: [(&str, &str); 24] = [
    ("charts/shop/Chart.yaml", "apiVersion: v2\nname: shop\nversion: 0.1.0\ntype: application\n"),
    ("charts/shop/values.yaml", "mesh: default\nnetworking: {port: 80}\nreplicas: 2\n"),
    (
        "charts/shop/templates/route.yaml",
        "{{- if .Values.route }}\napiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\n\
         metadata:\n  name: {{ .Release.Name }}\n{{- end }}\n",
    ),
    ("charts/shop/templates/config.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: '{{ .Release.Name }}'}\n"),
    ("charts/shop/charts/redis/Chart.yaml", "apiVersion: v2\nname: redis\nversion: 1.0.0\n"),
    ("charts/shop/charts/redis/templates/a.yaml", "kind: {{ .Values.kind }}\n{{ include \"x\" . }}\n"),
    ("kustomize/base/kustomization.yaml", "resources: [service.yaml]\n"),
    (
        "kustomize/base/service.yaml",
        "apiVersion: v1\nkind: Service\nmetadata: {name: cart, namespace: web}\nspec: {ports: [{port: 80}]}\n",
    ),
    ("kustomize/prod/kustomization.yaml", "resources: [../base]\npatches: [{path: patch.yaml}]\nnamePrefix: prod-\n"),
    (
        "kustomize/prod/patch.yaml",
        "apiVersion: v1\nkind: Service\nmetadata: {name: cart, namespace: web}\nspec: {ports: [{port: 81}]}\n",
    ),
    ("ansible/site.yml", "- hosts: all\n  tasks:\n  - name: x\n    ansible.builtin.debug: {msg: hello}\n"),
    ("ansible/vars.yml", "records:\n- {type: A, name: www}\n"),
    ("ansible/records.yml", "- {type: A, name: www}\n- {type: MX, name: mail}\n"),
    ("ansible/templates/nginx.yml", "server:\n  {% for host in hosts %}\n  - {{ host }}\n  {% endfor %}\n"),
    ("ansible/vault.yml", "password: !vault |\n  $ANSIBLE_VAULT;1.1;AES256\n  3132\n"),
    ("docker-compose.yml", "services:\n  web: {image: nginx, networks: [front]}\nnetworks: {front: {}}\n"),
    (
        "mkdocs.yml",
        "site_name: x\nmarkdown_extensions:\n- pymdownx.emoji: {emoji_index: !!python/name:materialx.emoji.twemoji }\n",
    ),
    ("tsconfig.json", "{\n  // as strict as can be\n  \"compilerOptions\": {\"strict\": true,},\n}\n"),
    ("package.json", "{\"name\": \"x\", \"type\": \"module\", \"scripts\": {}}\n"),
    ("package-lock.json", "{\"name\": \"x\", \"lockfileVersion\": 3, \"packages\": {}}\n"),
    ("ci/pipeline.yml", "stages: [test]\ntest: {script: !reference [.setup, script], stage: test}\n"),
    (
        "secrets/all.enc.yaml",
        "password: ENC[AES256_GCM,data:abc,iv:d,tag:e,type:str]\nsops: {mac: 'ENC[AES256_GCM,data:x]', version: 3.8.1}\n",
    ),
    ("notes/readme.yaml", "just a few words\n"),
    ("build/rendered.yaml", "kind: MeshTimeout: broken\n"),
];

fn write(folder: &Path, name: &str, text: &str) {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().expect("a folder")).expect("is writable");
    fs::write(path, text).expect("is writable");
}

/// The whole repository.
fn repository() -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    git(folder.path(), &["init", "--quiet"]);
    for (name, text) in OURS.into_iter().chain(OTHERS) {
        write(folder.path(), name, text);
    }
    write(folder.path(), ".gitignore", "build/\n*.local.yaml\n");
    write(folder.path(), "mesh/mine.local.yaml", "type: MeshTimeout\nname: broken\nspec: [\n");
    write(folder.path(), "data/rows.json", &rows(20_000));
    #[cfg(unix)]
    {
        use std::os::unix::fs::symlink;
        symlink("..", folder.path().join("mesh/around")).expect("is writable");
        symlink("nowhere.yaml", folder.path().join("mesh/gone.yaml")).expect("is writable");
        symlink("circle.yaml", folder.path().join("mesh/circle.yaml")).expect("is writable");
    }
    folder
}

/// Data of another program, a hundred bytes a row.
fn rows(count: usize) -> String {
    let rows: Vec<String> =
        (0..count).map(|number| format!("{{\"id\": {number}, \"text\": \"{number:>73}\"}}")).collect();
    format!("{{\"rows\": [{}]}}", rows.join(","))
}

/// The line that counts what is left aside.
fn counted(told: &str) -> &str {
    let lines: Vec<&str> = told.lines().filter(|line| line.contains("left aside:")).collect();
    let [line] = lines.as_slice() else { panic!("one line: {told}") };
    line
}

#[cfg(unix)]
#[test]
fn a_repository_is_answered_at_its_root_and_what_is_not_ours_is_counted_by_reason() {
    let folder = repository();
    let huge = rows(520_000);
    assert!(huge.len() > 50_000_000, "{}", huge.len());
    write(folder.path(), "data/huge.json", &huge);
    let told = shown(&run(folder.path(), "explain dataplane/web-1 --to backend-1 --kind MeshTimeout"));
    assert!(told.starts_with("exit 0") && told.contains("7s"), "{told}");
    let line = counted(&told);
    for part in [
        "3 Helm templates,",
        "3 other files of Helm charts,",
        "1 template,",
        "5 unreadable files of other programs,",
        "1 encrypted file,",
        "2 links that lead nowhere,",
        "1 linked folder,",
        "2 files and folders that git ignores",
    ] {
        assert!(line.contains(part), "{part}: {line}");
    }
    // Documents that can be read and are nobody's here are counted by their type.
    for part in ["apps/v1 Deployment (1)", "documents without a type", "lists (2)"] {
        let told = shown(&run(folder.path(), "list --verbose"));
        assert!(counted(&told).contains(part), "{part}: {}", counted(&told));
    }
    assert!(told.contains("note: charts/shop is a Helm chart"), "{told}");
    assert!(told.contains("`helm template charts/shop | upheld … -f -`"), "{told}");
    assert!(told.contains("note: kustomize/prod is a Kustomize folder"), "{told}");
    let listed = shown(&run(folder.path(), "list -o name"));
    for name in ["MeshTimeout/default/all", "Gateway/web/edge", "AccessPolicy/", "project/", "Service/web/cart"] {
        assert!(listed.contains(name), "{name}: {listed}");
    }
}

#[test]
fn what_is_broken_and_ours_is_an_error_with_its_place_wherever_it_lies() {
    for (name, text, place) in [
        ("deep/er/policy.yaml", "type: MeshTimeout\nname: x\nspec: [\n", "deep/er/policy.yaml:"),
        (
            "charts/shop/policy.yaml",
            "kind: HTTPRoute\napiVersion: gateway.networking.k8s.io/v1\nmetadata: {\n",
            "charts/shop/policy.yaml:",
        ),
        ("ansible/access.json", "{\"id\": \"a\", \"effect\": \"permit\" \"subjects\": {}}", "ansible/access.json:1"),
        ("tags/broken.yaml", "ref: project/b\ntags: {\n", "tags/broken.yaml:"),
        ("x.yaml", "kind: NetworkPolicy\nbody: '{{ fine }}'\nspec: [\n", "x.yaml:"),
    ] {
        let folder = repository();
        write(folder.path(), name, text);
        let told = shown(&run(folder.path(), "list"));
        assert!(told.starts_with("exit 2") && told.contains(place), "{name}: {told}");
    }
}

#[test]
fn what_is_excluded_is_not_read_by_flag_and_by_settings() {
    let folder = repository();
    write(folder.path(), "old/policy.yaml", "type: MeshTimeout\nname: x\nspec: [\n");
    assert!(shown(&run(folder.path(), "list")).starts_with("exit 2"));
    for line in
        ["list --exclude old", "list --exclude ./old/policy.yaml", "list --exclude '*/policy.yaml' --exclude mesh"]
    {
        let told = shown(&run(folder.path(), line));
        assert!(told.starts_with("exit 0"), "{line}: {told}");
        assert!(counted(&told).contains("excluded"), "{line}: {told}");
    }
    assert!(!shown(&run(folder.path(), "list --exclude old --exclude mesh")).contains("MeshTimeout"));
    write(folder.path(), "upheld.yaml", "files: [.]\nexclude: [/old]\n");
    assert!(shown(&run(folder.path(), "list")).starts_with("exit 0"));
    assert!(shown(&run(&folder.path().join("mesh"), "list")).starts_with("exit 0"));
    let told = shown(&run(folder.path(), "config --show-origin --exclude mesh"));
    assert!(told.contains("/old, mesh") && told.contains("upheld.yaml:2, flag --exclude"), "{told}");
    let told = shown(&run(folder.path(), "list --exclude '{a'"));
    assert!(told.starts_with("exit 2") && told.contains("excludes nothing"), "{told}");
}

#[test]
fn strict_reading_takes_nothing_aside() {
    let folder = repository();
    let told = shown(&run(folder.path(), "list --strict"));
    assert!(told.starts_with("exit 2"), "{told}");
    for place in ["charts/shop/templates/route.yaml", "tsconfig.json", "mkdocs.yml", "mesh/gone.yaml"] {
        assert!(told.contains(place), "{place}: {told}");
    }
    let own = tempfile::tempdir().expect("a temporary folder");
    for (name, text) in OURS.iter().filter(|(name, _)| *name != "k8s/gateway.yaml") {
        write(own.path(), name, text);
    }
    assert!(shown(&run(own.path(), "list --strict")).starts_with("exit 0"));
    write(own.path(), "compose.yaml", OTHERS[15].1);
    let told = shown(&run(own.path(), "list --strict"));
    assert!(told.starts_with("exit 2") && told.contains("documents without a type"), "{told}");
    assert!(shown(&run(own.path(), "list")).starts_with("exit 0"));
}

#[test]
fn an_object_in_two_folders_stops_nothing_and_both_files_are_named() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    write(folder.path(), "mesh/mesh.yaml", OURS[0].1);
    for (place, idle) in [("overlays/dev", "1s"), ("overlays/prod", "2s")] {
        write(folder.path(), &format!("{place}/timeouts.yaml"), &OURS[1].1.replace("7s", idle));
    }
    let question = "explain dataplane/web-1 --to backend-1 --kind MeshTimeout";
    let told = shown(&run(folder.path(), question));
    assert!(told.starts_with("exit 0") && told.contains("1s"), "{told}");
    assert!(
        told.contains("warning[UP015]: MeshTimeout `all` of mesh `default` is defined twice, and the first counts"),
        "{told}"
    );
    assert!(told.contains("overlays/dev/timeouts.yaml") && told.contains("overlays/prod/timeouts.yaml"), "{told}");
    assert!(told.contains("`--exclude overlays/dev` or `--exclude overlays/prod`"), "{told}");
    let chosen = shown(&run(folder.path(), &format!("{question} --exclude overlays/dev")));
    assert!(chosen.contains("2s") && !chosen.contains("UP015"), "{chosen}");
    assert!(shown(&run(folder.path(), &format!("{question} --strict"))).starts_with("exit 2"));
    // Within a folder it is a mistake.
    write(folder.path(), "overlays/dev/again.yaml", OURS[1].1);
    assert!(shown(&run(folder.path(), question)).starts_with("exit 2"));
}

#[test]
fn access_policies_and_related_objects_in_two_folders_stop_nothing() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let policy = "id: staff\neffect: permit\nsubjects: [{role: staff}]\nresources: [{path: /x}]\nactions: []\n";
    let set = "kind: PolicySet\nid: shop\nalgorithm: deny-overrides\npolicies:\n- {id: clerks, effect: permit, subjects: [{role: clerk}], resources: [], actions: []}\n";
    let related = "kind: Compliance\nobjects:\n- {ref: workspace/w, tags: {env: [dev]}}\n\
        - {ref: project/p, workspace: w, tags: {env: [dev]}}\npolicies:\n\
        - {id: env, a: {kind: workspace, tag: env}, b: {kind: project, tag: env}, strategy: intersection}\n\
        waivers:\n- {id: later, policy: env, reason: r, expiresAt: 2199-01-01T00:00:00Z}\n\
        tagDefinitions:\n- {kind: project, key: env, type: multiSelect, options: [dev, prod]}\n";
    for (place, effect, value) in [("overlays/dev", "permit", "dev"), ("overlays/prod", "deny", "prod")] {
        write(folder.path(), &format!("{place}/access.yaml"), &policy.replace("permit", effect));
        write(folder.path(), &format!("{place}/set.yaml"), set);
        let project = format!("tags: {{env: [{value}]}}}}\npolicies:");
        write(
            folder.path(),
            &format!("{place}/related.yaml"),
            &related.replace("tags: {env: [dev]}}\npolicies:", &project),
        );
    }
    let asks = |role: &str| format!("can --subject role={role} --action GET --resource /x");
    for role in ["staff", "clerk"] {
        let told = shown(&run(folder.path(), &asks(role)));
        assert!(told.starts_with("exit 0"), "the first counts, and the second takes nothing back: {told}");
    }
    let told = shown(&run(folder.path(), "audit"));
    assert!(told.starts_with("exit 0"), "the project of the first folder agrees: {told}");
    for what in ["the policy `staff`", "the policy `clerks`", "`project/p`", "the policy `env`", "the waiver `later`"] {
        assert!(told.contains(&format!("{what} is defined twice, and the first counts")), "{what}: {told}");
    }
    assert!(told.contains("the tag definition `env`") && told.contains("`--exclude overlays/dev`"), "{told}");
    let chosen = |question: &str| shown(&run(folder.path(), &format!("{question} --exclude overlays/dev")));
    assert!(chosen(&asks("staff")).starts_with("exit 1") && !chosen("audit").contains("twice"));
    let pair = "explain project/p~workspace/w -o json";
    assert!(chosen(pair).contains(r#""prod""#), "{}", chosen(pair));
    assert!(!shown(&run(folder.path(), pair)).contains(r#""prod""#));
    assert!(shown(&run(folder.path(), "audit --strict")).starts_with("exit 2"));
    // Within a folder it is a mistake.
    write(folder.path(), "overlays/dev/again.yaml", policy);
    assert!(shown(&run(folder.path(), "audit")).starts_with("exit 2"));
}

/// A program that stands in for another: it prints a text for whatever it is asked to render.
#[cfg(unix)]
fn stand_in(folder: &Path, name: &str, script: &str) {
    use std::os::unix::fs::PermissionsExt;
    let path = folder.join(name);
    fs::write(&path, format!("#!/bin/sh\n{script}\n")).expect("is writable");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("is ours");
}

#[cfg(unix)]
#[test]
fn charts_and_kustomizations_are_rendered_where_their_programs_are() {
    let folder = repository();
    let without = tempfile::tempdir().expect("a temporary folder");
    let listed = |path: &Path, more: &[&str]| {
        let output =
            upheld(folder.path()).env("PATH", path).args(["list", "-o", "name", "--render"]).args(more).output();
        shown(&output.expect("the program starts"))
    };
    let told = listed(without.path(), &[]);
    assert!(told.starts_with("exit 2"), "{told}");
    assert!(told.contains("`charts/shop` cannot be rendered: there is no `helm` on the PATH"), "{told}");
    assert!(told.contains("`kustomize/prod` cannot be rendered: there is no `kustomize` on the PATH"), "{told}");
    let with = tempfile::tempdir().expect("a temporary folder");
    let service = |name: &str| {
        format!(
            "echo 'apiVersion: v1'; echo 'kind: Service'; echo 'metadata: {{name: {name}, namespace: web}}'; echo 'spec: {{ports: [{{port: 80}}]}}'"
        )
    };
    stand_in(with.path(), "helm", &format!("[ \"$1\" = template ] && {}", service("from-helm")));
    stand_in(with.path(), "kustomize", &format!("[ \"$1\" = build ] && {}", service("prod-cart")));
    let told = listed(with.path(), &[]);
    assert!(told.starts_with("exit 0"), "{told}");
    assert!(told.contains("Service/web/from-helm") && told.contains("Service/web/prod-cart"), "{told}");
    assert!(!told.contains("Service/web/cart"), "the base is part of what was rendered: {told}");
    assert!(!told.contains("is a Helm chart") && told.contains("files that were rendered"), "{told}");
    stand_in(with.path(), "helm", "echo 'Error: no values' >&2; exit 1");
    let told = listed(with.path(), &[]);
    assert!(
        told.starts_with("exit 2") && told.contains("`helm template charts/shop` failed: Error: no values"),
        "{told}"
    );
    assert!(listed(with.path(), &["--exclude", "charts"]).starts_with("exit 0"));
}
