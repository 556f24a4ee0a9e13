//! The command line, as users see it.

mod access;
mod analysis;
mod common;
mod compliance;
mod formats;
mod inventory;
#[cfg(feature = "server")]
mod operations;
mod program;
mod question;
#[cfg(feature = "server")]
mod serve;
mod shell;
mod testing;
mod times;

use std::path::PathBuf;

use clap::Subcommand;

pub(crate) use self::access::{AccessRequest, Can, Reach};
pub(crate) use self::analysis::{Affected, Bisect, Diff, Lint, LintFail, Replay, Sides, WhyNot, Worse};
pub(crate) use self::common::Common;
pub(crate) use self::compliance::{Audit, Candidates, FailOn, Fix, Organisation, Person, Values, Waivers, WhatIf};
pub(crate) use self::formats::{
    AnonymousCallers, Color, Drawing, Findings, Format, Output, Printer, Results, SchemaChecks,
};
pub(crate) use self::inventory::{Kinds, KindsAction, List, Listed, Show};
pub(crate) use self::program::{command, parse};
pub(crate) use self::question::{Explain, Question};
#[cfg(feature = "server")]
pub(crate) use self::serve::{Health, Kept, Open, Serve};
pub(crate) use self::shell::Shell;
pub(crate) use self::testing::Test;
pub(crate) use self::times::MaxStale;

/// The command line that the user wrote.
#[derive(Debug)]
pub(crate) struct Cli {
    pub(crate) common: Common,
    pub(crate) command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Which policies hold here, which one wins, who lost, and why
    #[command(before_help = "Examples:\n  \
        upheld explain --kind TrafficLog --from web-1 --to backend-1     one kind, with every candidate\n  \
        upheld explain --from web-1 --to backend-1                       all kinds, a line each\n  \
        upheld explain --kind Retry --from kuma.io/service=web,cloud=aws --to backend\n  \
        upheld explain --kind TrafficLog --to backend-1#8080 --from web  one inbound, all proxies of web\n  \
        upheld explain --kind TrafficLog --all-pairs -o jsonl            every proxy and service\n  \
        upheld explain dataplane/web-1                                   all that a proxy gets from target references\n  \
        upheld explain dataplane/web-1 --to meshservice/backend#http     one destination, field by field\n  \
        upheld explain dataplane/web-1 --from kuma.io/service=frontend   one caller\n  \
        upheld explain httproute/shop/checkout#rule0                     what a rule of a route gets\n  \
        upheld explain --host shop.example --path /cart                  the rule that takes a request\n  \
        upheld explain --subject role=admin --action DELETE --resource /api/audit/123   may it go on, and why\n  \
        upheld explain project/a~workspace/b                             whether two objects agree in their tags")]
    Explain(Explain),
    /// May this happen? The exit code is the answer: 0 permit, 1 deny, 3 undecided
    #[command(before_help = "Examples:\n  \
        upheld can --subject role=admin --action DELETE --resource /api/audit/123\n  \
        upheld can --subject id=alice,claim.level=5 --action read --resource type=doc,id=7\n  \
        upheld can --request request.yaml\n  \
        upheld can link project/a~landingzone/b --as user                  may they be related?\n  \
        upheld can tag project/a environment=prod --as user\n  \
        upheld can --batch requests.jsonl -o jsonl")]
    Can(Can),
    /// Who may reach what: all requests that are permitted, among what a Directory lists
    #[command(before_help = "Examples:\n  \
        upheld reach --subject user/ann                                  what ann can do, and with what\n  \
        upheld reach --subject user/ann --action GET                     the resources that she can read\n  \
        upheld reach --action GET --resource document/7                  who can read it\n  \
        upheld reach --subject user/ann --resource document/7            which actions\n  \
        upheld reach --subject role=admin --resource type=document       somebody with a role, one type of resource\n  \
        upheld reach --subject user/ann --verbose                        what is denied, too\n\n\
        What is left out is looked for in the Directory; of a part with a type only, those of the type.")]
    Reach(Reach),
    /// Which objects violate which policy, hard or soft, and what would fix it: 0 none, 1 some
    #[command(before_help = "Examples:\n  \
        upheld audit                                       everything\n  \
        upheld audit --workspace managed-customer\n  \
        upheld audit --policy env-project-customer -o csv\n  \
        upheld audit -o sarif > audit.sarif                for code scanning\n  \
        upheld audit --as workspaceOwner@workspace/shop    what they may see")]
    Audit(Audit),
    /// What could be related to an object without breaking a policy
    #[command(before_help = "Examples:\n  \
        upheld candidates project/my-project --kind landingZone\n  \
        upheld candidates workspace/shop --kind user -o name")]
    Candidates(Candidates),
    /// Which values a tag of an object could have without being refused
    #[command(before_help = "Examples:\n  upheld values project/my-project environment --as user")]
    Values(Values),
    /// What changes would do: violations that begin and end, decisions that flip; nothing is written
    #[command(before_help = "Examples:\n  \
        upheld what-if changes.yaml\n  \
        upheld what-if changes.yaml --plan 3f2c9a10b4e1     refused if anything moved since")]
    WhatIf(WhatIf),
    /// Edits that would fix violations, each tried before it is shown
    #[command(before_help = "Examples:\n  \
        upheld fix                                         few edits that fix as much as possible\n  \
        upheld fix project/a~workspace/b                   all ways to fix one pair\n  \
        upheld fix --workspace shop --as workspaceOwner@workspace/shop")]
    Fix(Fix),
    /// Waivers: which cover something, which are unused, expired or about to end
    #[command(before_help = "Examples:\n  upheld waivers\n  upheld waivers --unused\n  upheld waivers --expiring 30")]
    Waivers(Waivers),
    /// What is wrong with the policies themselves: what can never win, what a name decides: 0 nothing, 1 something
    #[command(before_help = "Examples:\n  \
        upheld lint                                       all findings, by place\n  \
        upheld lint --only UP2 --fail-on error            only what names and ages decide\n  \
        upheld lint -o github                             beside the lines of a change\n  \
        upheld lint -o sarif > lint.sarif                 for code scanning\n  \
        upheld lint --fix                                 remove what changes no result, each proved first\n\n\
        A comment in a document allows a finding there: # upheld: allow UP201 until 2030-12-31 because …")]
    Lint(Lint),
    /// What changes, for whom: two folders, two git revisions or two editions of the rules: 0 nothing, 1 something
    #[command(before_help = "Examples:\n  \
        upheld diff                                       what I changed since the last commit\n  \
        upheld diff main..HEAD                            two revisions of this folder\n  \
        upheld diff old/ new/                             two folders\n  \
        upheld diff --fail-on widened,hard main..         for pipelines: nothing may be opened by mistake\n  \
        upheld diff -o markdown main..HEAD                a comment on a change\n  \
        upheld diff --semantics kuma/0.3..kuma/0.4        what an upgrade changes\n  \
        upheld diff --recreated                           what a restore from a backup would change")]
    Diff(Diff),
    /// Show that a change leaves every result as it is, or find one that it does not: 0 equal, 1 not, 3 undecided
    #[command(before_help = "Examples:\n  \
        upheld prove main..HEAD                           this refactoring changes nothing\n  \
        upheld prove old/ new/")]
    Prove(Sides),
    /// Where a policy counts, and what would change if it were deleted, disabled or edited, and who takes over
    #[command(before_help = "Examples:\n  \
        upheld affected retry-for-namespace\n  \
        upheld affected TrafficLog/default/web-to-backend-policy --if edited draft.yaml")]
    Affected(Affected),
    /// Decide the requests of a log again, by a draft: what would have been decided otherwise? 0 nothing, 1 something
    #[command(before_help = "Examples:\n  \
        upheld replay decisions.jsonl --against draft/    the log of a server, decided again by a folder\n  \
        upheld replay access.log --map subject.id=user    an access log, by the files as they are")]
    Replay(Replay),
    /// Why a policy does not count here, and which edits would let it, with all that they change
    #[command(before_help = "Examples:\n  \
        upheld why-not catch-all-policy --from web-1 --to backend-1\n  \
        upheld why-not admin-access --subject role=admin --action DELETE --resource /api/audit/123")]
    WhyNot(WhyNot),
    /// Who set each field of a result: file, line, commit, author, date
    #[command(before_help = "Examples:\n  \
        upheld blame httproute/shop/checkout#rule0\n  \
        upheld blame --kind TrafficLog --from web-1 --to backend-1\n  \
        upheld blame dataplane/web-1 --kind MeshTimeout --at v1.4")]
    Blame(Question),
    /// The commit at which an answer changed
    #[command(before_help = "Examples:\n  \
        upheld bisect --good v1.4 --kind TrafficLog --from web-1 --to backend-1\n  \
        upheld bisect --good main~20 --bad main --subject role=user --action GET --resource /admin/health")]
    Bisect(Bisect),
    /// Run the tests beside policies, and report the policies that no test decides
    #[command(before_help = "Examples:\n  \
        upheld test                                       all tests in this folder\n  \
        upheld test -f policies/ --only 'admins *' -w     some of them, again on every change\n  \
        upheld test -o junit --fail-under 90              for pipelines\n  \
        upheld test --mutate                              which changes of policies would no test notice?")]
    Test(Test),
    /// Just the result, for pipes
    #[command(before_help = "Examples:\n  \
        upheld resolve --kind TrafficLog --from web-1 --to backend-1\n  \
        upheld resolve --kind TrafficLog --from web-1 --to backend-1 --field backend\n  \
        upheld resolve --kind TrafficLog --from web-1 --to backend-1 -o name")]
    Resolve(Question),
    /// What Kuma's Inspect API would answer, as JSON in its own shape
    #[command(before_help = "Examples:\n  \
        upheld inspect /meshes/default/dataplanes/web-1/_rules\n  \
        upheld inspect /meshes/default/dataplanes/web-1/_layout\n  \
        upheld inspect /meshes/default/dataplanes/web-1/_outbounds/kri_msvc_default___backend_http/_policies\n  \
        upheld inspect '/meshes/default/meshtimeouts/slow/_resources/dataplanes?size=10'\n  \
        upheld inspect /meshes/default/traffic-logs/all/dataplanes")]
    Inspect {
        /// The path of the request
        path: String,
    },
    /// Gateways, routes and backends with their policies, for Graphviz or Mermaid
    #[command(before_help = "Examples:\n  upheld graph -o svg > topology.svg\n  upheld graph -o mermaid\n  \
        upheld graph -o dot | dot -Tpdf > topology.pdf")]
    Graph,
    /// What kgateway would report of each policy, and at how many places each field survives
    #[command(before_help = "Examples:\n  upheld status\n  upheld status -o json")]
    Status,
    /// What was read: policies, objects, services, meshes
    #[command(before_help = "Examples:\n  \
        upheld list\n  \
        upheld list policies --kind TrafficLog -o wide\n  \
        upheld list services -o name")]
    List(List),
    /// One policy or object: what it says, where it applies, where it wins
    #[command(before_help = "Examples:\n  \
        upheld show web-to-backend-policy\n  \
        upheld show TrafficLog/web-to-backend-policy -o json\n  \
        upheld show dataplane/web-1")]
    Show(Show),
    /// The kinds of policies: how each matches, ranks and resolves
    #[command(before_help = "Examples:\n  \
        upheld kinds\n  \
        upheld kinds show TrafficLog\n  \
        upheld kinds --semantics kuma/0.4")]
    Kinds(Kinds),
    /// What a code means, with a bad and a good example
    #[command(before_help = "Examples:\n  upheld codes\n  upheld codes UP010\n  upheld codes select.more-tags")]
    Codes {
        /// A code, or the beginning of one
        code: Option<String>,
    },
    /// How policies resolve, one policy a step, on built-in examples
    #[command(before_help = "Examples:\n  upheld learn\n  upheld learn select\n  upheld learn select --step 3")]
    Learn {
        /// A lesson; all of them are listed when left out
        lesson: Option<String>,
        /// How far to go in it
        #[arg(long, value_name = "NUMBER", default_value_t = 1, requires = "lesson")]
        step: usize,
    },
    /// JSON Schemas of the documents, for editors and checks
    #[command(before_help = "Examples:\n  upheld schema\n  upheld schema TrafficLog\n  upheld schema PolicyKind")]
    Schema {
        /// A document type; all of them when left out
        #[arg(value_name = "TYPE")]
        document: Option<String>,
    },
    /// Answer over HTTP and gRPC, and keep policies
    #[cfg(feature = "server")]
    #[command(before_help = "Examples:\n  \
        upheld serve                                      keeps policies in the data folder, listens on 127.0.0.1:8181\n  \
        upheld serve --watch policies/ --ephemeral        serves files, and reads them again when they change\n  \
        upheld serve --database postgres://db/upheld      several servers on one database, with one UPHELD_BOOTSTRAP_TOKEN")]
    Serve(Box<Serve>),
    /// Open the files at hand in a browser: a server for oneself, on a free port, until it is stopped
    #[cfg(feature = "server")]
    #[command(before_help = "Examples:\n  \
        upheld open -f policies/                          the first page\n  \
        upheld open /compliance                           another one\n  \
        upheld explain --from web-1 --to backend-1 --open the page of a question")]
    Open(Open),
    /// Ask a server whether it lives, or is ready: 0 yes, 1 no or no answer. For probes; no token is needed or sent
    #[cfg(feature = "server")]
    #[command(before_help = "Examples:\n  \
        upheld health                                     whether the server of this machine lives, as UPHELD_LISTEN says where\n  \
        upheld health --ready                             whether it should be asked\n  \
        upheld health --ready --timeout 1s https://policies.example")]
    Health(Health),
    /// Say what is unsafe or unhealthy about a configuration or a running server, and how to fix it: 0 nothing, 1 something
    #[cfg(feature = "server")]
    #[command(before_help = "Examples:\n  \
        upheld doctor --security security.yaml --listen 0.0.0.0:8181   what `serve` would do with the same options\n  \
        upheld doctor --server https://policies.example                a running server; a token goes into UPHELD_TOKEN\n  \
        upheld doctor --server localhost:8181 -o json")]
    Doctor(Box<Serve>),
    /// Write all revisions of a store to standard output
    #[cfg(feature = "server")]
    #[command(before_help = "Examples:\n  \
        upheld export > backup.jsonl\n  \
        upheld export | upheld import --database postgres://db/upheld\n  \
        upheld export --sign private.pem > backup.jsonl     verify and import take the public key")]
    Export {
        #[command(flatten)]
        kept: Kept,
        /// Sign it with this Ed25519 key, as PEM: `openssl genpkey -algorithm ed25519` makes one
        #[arg(long, value_name = "KEY")]
        sign: Option<PathBuf>,
    },
    /// Read revisions from standard input into an empty store
    #[cfg(feature = "server")]
    #[command(before_help = "Examples:\n  upheld import < backup.jsonl\n  \
        upheld export --data old | upheld import --data new")]
    Import {
        #[command(flatten)]
        kept: Kept,
        /// Accept only what this key signed: a public one, as PEM
        #[arg(long, value_name = "PUBLIC KEY")]
        key: Option<PathBuf>,
    },
    /// Check that a store, an exported history, or that of a running server is what was written into it
    #[cfg(feature = "server")]
    #[command(before_help = "Examples:\n  \
        upheld verify                                     the store in the data folder\n  \
        upheld verify --database postgres://db/upheld\n  \
        upheld verify backup.jsonl                        an exported history\n  \
        upheld verify --server localhost:8181             that of a running server\n  \
        upheld verify --data old --accept-loss 32         a store that ends before what was acknowledged: go on from there")]
    Verify {
        /// An exported history, instead of a store; - is standard input
        #[arg(value_name = "FILE")]
        file: Option<PathBuf>,
        #[command(flatten)]
        kept: Kept,
        /// Whether this key signed it: a public one, as PEM; a store is not signed
        #[arg(long, value_name = "PUBLIC KEY", requires = "file")]
        key: Option<PathBuf>,
        /// Accept that a store lost what was acknowledged, and ends with this revision: the last one that it has
        #[arg(long, value_name = "REVISION", conflicts_with = "file")]
        accept_loss: Option<u64>,
    },
    /// The first five minutes, on built-in data
    #[command(before_help = "Examples:\n  upheld demo\n  upheld demo --write shop\n  \
        upheld explain -f builtin:demo --from web-1 --to backend-1")]
    Demo {
        /// Copy the files of the demo into this folder
        #[arg(long, value_name = "DIR")]
        write: Option<PathBuf>,
        /// Look at the demo in a browser
        #[cfg(feature = "server")]
        #[arg(long)]
        open: bool,
    },
    /// Write an upheld.yaml for this folder
    #[command(before_help = "Examples:\n  upheld init\n  upheld init policies/ dataplanes/")]
    Init {
        /// Files and folders to read; what is found here when left out
        paths: Vec<String>,
    },
    /// The settings in force
    #[command(before_help = "Examples:\n  upheld config\n  upheld config --show-origin")]
    Config {
        /// Say where each setting comes from
        #[arg(long)]
        show_origin: bool,
    },
    /// Completion script for a shell
    #[command(before_help = "Examples:\n  source <(upheld completion bash)\n  \
        upheld completion fish > ~/.config/fish/completions/upheld.fish")]
    Completion {
        /// The shell
        #[arg(value_enum)]
        shell: Shell,
    },
    /// The manual pages
    #[command(before_help = "Examples:\n  upheld man | man -l -\n  upheld man --dir ~/.local/share/man/man1")]
    Man {
        /// Write a page for each command into this folder
        #[arg(long, value_name = "DIR")]
        dir: Option<PathBuf>,
    },
    /// What this program is
    Version,
}

impl Command {
    /// How it prints.
    pub(crate) fn printer(&self) -> Printer {
        Printer::of(match self {
            Self::Graph => "graph",
            Self::Test(_) => "test",
            Self::Audit(_) => "audit",
            Self::Fix(_) => "fix",
            Self::Diff(_) | Self::Prove(_) | Self::Replay(_) => "diff",
            Self::Lint(_) => "lint",
            Self::Explain(_) | Self::Learn { .. } => "explain",
            _ => "",
        })
    }
}
