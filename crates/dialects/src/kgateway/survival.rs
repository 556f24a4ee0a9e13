//! At how many ways of requests each field of a policy holds: what a status hides, because it looks at one scope at a time.

use std::collections::BTreeMap;

use smol_str::SmolStr;

use super::effective::Holder;
use super::kinds::Subject;
use super::resolver::Resolver;
use super::status::Survival;

impl Resolver<'_> {
    /// For each traffic policy that requests reach, by its number: its fields by name.
    pub fn survival_on_ways(&self) -> BTreeMap<usize, Vec<Survival>> {
        let mut counted: BTreeMap<(usize, SmolStr), (usize, usize)> = BTreeMap::new();
        for gateway in &self.topology().gateways {
            for host in &gateway.hosts {
                for way in &host.ways {
                    let listener = gateway.listeners.get(host.listener);
                    let configuration = listener.map(|listener| self.route_configuration(gateway, listener));
                    let scopes = [Some(self.route(way)), Some(self.host(gateway, host)), configuration];
                    let mut attached: Vec<usize> = Vec::new();
                    for scope in scopes.iter().flatten() {
                        attached.extend(scope.of(Subject::Traffic).into_iter().flat_map(|resolved| &resolved.policies));
                    }
                    attached.sort_unstable();
                    attached.dedup();
                    let effective = self.effective(gateway, host, way);
                    for policy in attached {
                        let fields = self.policies().get(policy).map_or(&[][..], |entry| entry.fields.as_slice());
                        for (field, _) in fields {
                            let holds = effective.iter().any(|one| {
                                one.field == *field
                                    && one.held.holder != Holder::Rule
                                    && one.held.origins.contains(&policy)
                            });
                            let (survives, targets) = counted.entry((policy, field.clone())).or_default();
                            *targets += 1;
                            *survives += usize::from(holds);
                        }
                    }
                }
            }
        }
        let mut survival: BTreeMap<usize, Vec<Survival>> = BTreeMap::new();
        for ((policy, field), (survives, targets)) in counted {
            survival.entry(policy).or_default().push(Survival { field, targets, survives });
        }
        survival
    }
}
