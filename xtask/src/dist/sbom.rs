//! What the program is made of, as `CycloneDX` 1.5 has it.

use serde_json::{Value as Json, json};

use super::packages::{Package, Packages};

/// The inventory. It has no time and no number of its own, so that the same sources give the same text.
pub(super) fn sbom(packages: &Packages) -> String {
    let root = packages.all.get(&packages.root).map(|package| component(package, "application"));
    let parts = packages.by_name().into_iter().filter(|(id, _)| **id != packages.root);
    let components: Vec<Json> = parts.map(|(_, package)| component(package, "library")).collect();
    let dependencies: Vec<Json> = (packages.by_name().into_iter())
        .map(|(_, package)| json!({"ref": package.url(), "dependsOn": needs(packages, package)}))
        .collect();
    let document = json!({
        "$schema": "http://cyclonedx.org/schema/bom-1.5.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": root},
        "components": components,
        "dependencies": dependencies,
    });
    format!("{document:#}\n")
}

fn component(package: &Package, sort: &str) -> Json {
    let mut component = json!({
        "type": sort,
        "bom-ref": package.url(),
        "name": package.name,
        "version": package.version,
        "purl": package.url(),
    });
    if let (Some(fields), Some(licence)) = (component.as_object_mut(), &package.licence) {
        // Old manifests write a slash where they mean a choice.
        let expression = licence.split('/').map(str::trim).collect::<Vec<_>>().join(" OR ");
        fields.insert("licenses".to_owned(), json!([{"expression": expression}]));
    }
    component
}

fn needs(packages: &Packages, package: &Package) -> Vec<String> {
    let mut needs: Vec<String> = package.needs.iter().filter_map(|id| packages.all.get(id)).map(Package::url).collect();
    needs.sort();
    needs
}

#[cfg(test)]
mod tests {
    use super::super::packages::tests::sample;
    use super::*;
    use std::path::Path;

    #[test]
    fn every_part_is_named_with_its_licence_and_what_it_needs() {
        let text = sbom(&sample(Path::new("/src")));
        let document: Json = serde_json::from_str(&text).unwrap();
        assert_eq!((&document["bomFormat"], &document["specVersion"]), (&"CycloneDX".into(), &"1.5".into()));
        assert_eq!(document["metadata"]["component"]["purl"], "pkg:cargo/upheld@1.2.3");
        let names: Vec<_> = document["components"].as_array().unwrap().iter().map(|part| &part["name"]).collect();
        assert_eq!(names, ["old", "smol", "upheld-model"]);
        assert_eq!(document["components"][0]["licenses"][0]["expression"], "MIT OR Apache-2.0");
        assert_eq!(
            document["dependencies"][1],
            json!({"ref": "pkg:cargo/smol@0.1.0", "dependsOn": ["pkg:cargo/old@0.0.1"]})
        );
        assert_eq!(document["dependencies"].as_array().unwrap().len(), 4);
    }

    #[test]
    fn no_place_of_this_machine_is_in_it() {
        let packages = sample(Path::new("/secret/home"));
        assert!(!sbom(&packages).contains("secret"));
        assert_eq!(sbom(&packages), sbom(&sample(Path::new("/elsewhere"))));
    }
}
