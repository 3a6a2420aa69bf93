//! A pool of preemptible nodes.

use crate::subject::{NodeLabels, PoolLabels, Taint};

/// A group of preemptible nodes, named by its taint and/or node labels.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pool {
    /// Taint of all its nodes.
    pub taint: Option<Taint>,
    /// Labels that only this pool's nodes bear.
    pub node_labels: Vec<(String, String)>,
    /// Label key whose values tell node types apart, present on all nodes of the cluster.
    pub node_type_key: Option<String>,
    /// Its value on this pool.
    pub node_type_value: Option<String>,
}

impl Pool {
    /// The node type label of this pool, where both parts are known.
    fn node_type(&self) -> Option<(&str, &str)> {
        Some((self.node_type_key.as_deref()?, self.node_type_value.as_deref()?))
    }

    fn known(&self) -> impl Iterator<Item = (&str, &str)> {
        let own = self.node_labels.iter().map(|(key, value)| (key.as_str(), value.as_str()));
        own.chain(self.node_type())
    }
}

impl NodeLabels for Pool {
    fn label(&self, key: &str) -> Option<Option<&str>> {
        self.known().find(|(known, _)| *known == key).map(|(_, value)| Some(value))
    }
}

impl PoolLabels for Pool {
    fn is_own(&self, key: &str, value: &str) -> bool {
        self.known().any(|label| label == (key, value))
    }
}
