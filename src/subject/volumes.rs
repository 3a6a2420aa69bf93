//! Volumes and claims, as far as rules read them.

use serde::Deserialize;

use super::object::Metadata;
use super::scalar::{List, Presence, Text, or_default};

/// A volume of a pod.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, bound(deserialize = "'de: 'a"))]
pub struct Volume<'a> {
    /// Volume name.
    pub name: Text<'a>,
    /// Set when it mounts an existing claim.
    pub persistent_volume_claim: Option<ClaimSource<'a>>,
    /// Set when it is a generic ephemeral volume, whose claim dies with the pod.
    pub ephemeral: Presence,
    /// Set when it is a directory of the node.
    pub host_path: Presence,
}

/// A reference to an existing claim.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, bound(deserialize = "'de: 'a"))]
pub struct ClaimSource<'a> {
    /// Name of the claim in the pod's namespace.
    pub claim_name: Text<'a>,
}

/// A claim template of a StatefulSet.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub struct ClaimTemplate<'a> {
    /// Its name is the name of the volume, and it replaces a template volume of that name.
    #[serde(deserialize_with = "or_default")]
    pub metadata: Metadata<'a>,
    /// What is claimed.
    #[serde(deserialize_with = "or_default")]
    pub spec: ClaimSpec<'a>,
}

/// What a claim asks for.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, bound(deserialize = "'de: 'a"))]
pub struct ClaimSpec<'a> {
    /// Access modes; there is no default, so an absent list is an error of the user.
    pub access_modes: List<Text<'a>>,
    /// Storage class; empty is the cluster's default.
    pub storage_class_name: Text<'a>,
}

/// What the access modes of a claim mean for a pod that moves to another node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessModes {
    /// Only ReadWriteOnce or ReadWriteOncePod: the volume must leave the old node first.
    SingleNode,
    /// At least one mode allows several nodes.
    Shared,
    /// No mode at all, or one that Kubernetes does not know.
    Unknown,
}

impl AccessModes {
    /// Reads a list of modes.
    pub fn of<T: AsRef<str>>(modes: impl IntoIterator<Item = T>) -> Self {
        let (mut single, mut shared, mut unknown) = (false, false, false);
        for mode in modes {
            match mode.as_ref() {
                "ReadWriteOnce" | "ReadWriteOncePod" => single = true,
                "ReadWriteMany" | "ReadOnlyMany" => shared = true,
                _ => unknown = true,
            }
        }
        match (single, shared, unknown) {
            (_, true, _) => Self::Shared,
            (true, false, false) => Self::SingleNode,
            _ => Self::Unknown,
        }
    }
}

impl ClaimSpec<'_> {
    /// What its access modes mean.
    pub fn modes(&self) -> AccessModes {
        AccessModes::of(self.access_modes.iter().map(Text::as_str))
    }
}
