//! The inputs of `check`: files, directories, standard input.

use std::fs::File;
use std::io::{self, BufRead, BufReader, IsTerminal, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use walkdir::WalkDir;

/// Name of standard input on the command line and in reports.
pub(super) const STDIN: &str = "-";

/// One input, which can be read more than once.
pub(super) enum Input {
    /// A file.
    File(PathBuf),
    /// Standard input, spooled to a temporary file, since it is read twice.
    Stdin(File),
}

impl Input {
    /// Path as reports name it.
    pub(super) fn name(&self) -> String {
        match self {
            Self::File(path) => path.display().to_string(),
            Self::Stdin(_) => STDIN.to_owned(),
        }
    }

    /// A reader from the beginning.
    pub(super) fn open(&self) -> io::Result<Box<dyn BufRead>> {
        let file = match self {
            Self::File(path) => File::open(path)?,
            Self::Stdin(spooled) => {
                let mut file = spooled.try_clone()?;
                file.seek(SeekFrom::Start(0))?;
                file
            }
        };
        Ok(Box::new(BufReader::with_capacity(64 * 1024, file)))
    }
}

/// Finds all inputs in the order given, the files of a directory sorted. What cannot be listed is answered
/// beside them, as path and reason.
pub(super) fn inputs(paths: &[String]) -> (Vec<Input>, Vec<(String, String)>) {
    let (mut found, mut problems) = (Vec::new(), Vec::new());
    for path in paths {
        if path == STDIN {
            match spool() {
                Ok(file) => found.push(Input::Stdin(file)),
                Err(error) => {
                    problems.push((STDIN.to_owned(), format!("cannot read standard input: {error}")));
                }
            }
        } else {
            walk(Path::new(path), &mut found, &mut problems);
        }
    }
    (found, problems)
}

fn spool() -> io::Result<File> {
    if io::stdin().is_terminal() {
        eprintln!("note: reading manifests from the terminal; end with Ctrl-D");
    }
    let mut file = tempfile::tempfile()?;
    io::copy(&mut io::stdin().lock(), &mut file)?;
    Ok(file)
}

fn walk(path: &Path, found: &mut Vec<Input>, problems: &mut Vec<(String, String)>) {
    let before = (found.len(), problems.len());
    for entry in WalkDir::new(path).follow_links(true).sort_by_file_name() {
        match entry {
            Ok(entry) => {
                let is_given = entry.depth() == 0;
                if !entry.file_type().is_dir() && (is_given || is_manifest(entry.path())) {
                    found.push(Input::File(entry.into_path()));
                }
            }
            Err(error) => {
                let at = error.path().unwrap_or(path).display().to_string();
                let reason = error.io_error().map_or_else(|| error.to_string(), ToString::to_string);
                problems.push((at, format!("cannot read: {reason}")));
            }
        }
    }
    if before == (found.len(), problems.len()) {
        let at = path.display().to_string();
        problems.push((at, "there is no .yaml, .yml or .json file in this directory".to_owned()));
    }
}

fn is_manifest(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    ["yaml", "yml", "json"].contains(&extension)
}
