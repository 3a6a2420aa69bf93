//! Reads the policies that `--policy` names.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};

use crate::policy::{DEFAULT_PRESET, Diagnostic, Diagnostics, PolicySet, Source, load, preset, presets};
use crate::rules::catalogue;

/// Where policies come from; read anew at every reload.
#[derive(Clone, Debug)]
pub(super) struct PolicyArgs(Vec<String>);

impl PolicyArgs {
    /// The given ones, or the default preset, which is said.
    pub(super) fn new(given: &[String]) -> Self {
        if given.is_empty() {
            eprintln!("note: no --policy is given: using preset:{DEFAULT_PRESET}");
            return Self(vec![format!("preset:{DEFAULT_PRESET}")]);
        }
        Self(given.to_vec())
    }

    /// Reads all files, in the order given.
    ///
    /// # Errors
    /// When one cannot be read, or names a preset that does not exist.
    pub(super) fn read(&self) -> anyhow::Result<Vec<Source>> {
        let mut sources = Vec::new();
        for given in &self.0 {
            match given.strip_prefix("preset:") {
                Some(name) => sources.push(of_preset(name)?),
                None => of_path(Path::new(given), &mut sources)?,
            }
        }
        Ok(sources)
    }
}

fn of_preset(name: &str) -> anyhow::Result<Source> {
    let Some(preset) = preset(name) else {
        let known: Vec<_> = presets().iter().map(|preset| preset.name).collect();
        bail!("there is no preset {name:?}: the presets are {}", known.join(", "));
    };
    Ok(Source { name: format!("preset:{name}"), text: preset.text.as_bytes().to_vec() })
}

fn of_path(path: &Path, sources: &mut Vec<Source>) -> anyhow::Result<()> {
    let about = || format!("cannot read policy {}", path.display());
    if !fs::metadata(path).with_context(about)?.is_dir() {
        sources.push(of_file(path)?);
        return Ok(());
    }
    let entries =
        fs::read_dir(path).with_context(about)?.collect::<Result<Vec<_>, _>>().with_context(about)?;
    let mut files: Vec<PathBuf> =
        entries.iter().map(fs::DirEntry::path).filter(|file| is_policy(file)).collect();
    files.sort();
    if files.is_empty() {
        bail!("there is no .yaml, .yml or .json file in {}", path.display());
    }
    for file in files {
        sources.push(of_file(&file)?);
    }
    Ok(())
}

/// By its name; the links by which the kubelet swaps a ConfigMap begin with two dots.
fn is_policy(path: &Path) -> bool {
    let hidden = path.file_name().is_none_or(|name| name.to_string_lossy().starts_with('.'));
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    !hidden && ["yaml", "yml", "json"].contains(&extension)
}

fn of_file(path: &Path) -> anyhow::Result<Source> {
    let text = fs::read(path).with_context(|| format!("cannot read policy {}", path.display()))?;
    Ok(Source { name: path.display().to_string(), text })
}

/// Loads sources with the registry's rules.
pub(super) fn load_all(sources: &[Source]) -> Result<(PolicySet, Vec<Diagnostic>), Diagnostics> {
    load(sources, &catalogue())
}

/// Reads and loads; warnings go to standard error.
///
/// # Errors
/// Everything that is wrong with the policies.
pub(super) fn load_or_explain(args: &PolicyArgs) -> anyhow::Result<PolicySet> {
    let (policies, warnings) = load_all(&args.read()?)
        .map_err(|diagnostics| anyhow::anyhow!("the policy does not load\n{diagnostics}"))?;
    for warning in warnings {
        eprintln!("{warning}");
    }
    Ok(policies)
}
