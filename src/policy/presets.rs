//! The presets that ship with the binary; the same files are in `policies/`.

/// A policy file that ships with the binary.
#[derive(Clone, Copy, Debug)]
pub struct Preset {
    /// Name, as in `preset:NAME`.
    pub name: &'static str,
    /// The file.
    pub text: &'static str,
}

/// The preset that is used when no policy is named.
pub const DEFAULT_PRESET: &str = "selectel-mks";

macro_rules! preset {
    ($name:literal) => {
        Preset { name: $name, text: include_str!(concat!("../../policies/", $name, ".yaml")) }
    };
}

static PRESETS: [Preset; 9] = [
    preset!("selectel-mks"),
    preset!("eks"),
    preset!("eks-karpenter"),
    preset!("gke-spot"),
    preset!("gke-spot-extended"),
    preset!("aks-spot"),
    preset!("yandex"),
    preset!("oke"),
    preset!("generic"),
];

/// All presets, the default first.
pub fn presets() -> &'static [Preset] {
    &PRESETS
}

/// The preset of this name.
pub fn preset(name: &str) -> Option<&'static Preset> {
    presets().iter().find(|preset| preset.name == name)
}

impl Preset {
    /// The comment at the top of the file: its first line, without the hash.
    pub fn title(&self) -> &'static str {
        self.text.lines().next().unwrap_or_default().trim_start_matches(['#', ' '])
    }
}
