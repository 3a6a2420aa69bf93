//! Certificates from files: a mounted Secret, or whatever else writes them.
//!
//! They are re-read and compared by content. A mounted Secret swaps a symlink, which file watches on the names
//! inside miss, and an in-place rewrite passes through halves, which are not taken.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use std::{fs, io};

use tokio::time::sleep;

use super::pair::{Pair, PairError};
use super::served::ServedCertificate;

/// How often the files are read.
pub const POLL_INTERVAL: Duration = Duration::from_secs(5);

/// `--tls-cert` and `--tls-key`.
#[derive(Clone, Debug)]
pub struct CertificateFiles {
    /// PEM chain, the server's own certificate first.
    pub cert: PathBuf,
    /// PEM private key.
    pub key: PathBuf,
}

/// A file that cannot be read or served. The message is complete; there is no chain to print.
#[derive(Debug, thiserror::Error)]
pub enum CertificateFileError {
    /// Not readable.
    #[error("{}: {cause}; mount or write it, or correct {flag}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The flag that names it.
        flag: &'static str,
        /// What the system says.
        cause: io::Error,
    },
    /// Readable, but not servable.
    #[error("{}: {cause}", path.display())]
    Pair {
        /// The file that needs mending.
        path: PathBuf,
        /// What is wrong and how to mend it.
        cause: PairError,
    },
}

/// What the two files held at one reading.
#[derive(Clone, PartialEq, Eq)]
struct Content {
    chain: Vec<u8>,
    key: Vec<u8>,
}

impl CertificateFiles {
    /// Serves what the files hold, and returns the follower that keeps it up to date.
    ///
    /// # Errors
    /// When that cannot be served; at start there is no older pair to fall back on.
    pub fn start(self, served: Arc<ServedCertificate>) -> Result<Follower, CertificateFileError> {
        let content = self.read()?;
        served.replace(self.parse(&content)?);
        Ok(Follower { files: self, served, taken: content, refused: None })
    }

    fn read(&self) -> Result<Content, CertificateFileError> {
        // A few kilobytes, from memory where it is a Secret: not worth a blocking thread.
        Ok(Content { chain: read(&self.cert, "--tls-cert")?, key: read(&self.key, "--tls-key")? })
    }

    fn parse(&self, content: &Content) -> Result<Pair, CertificateFileError> {
        Pair::from_pem(&content.chain, &content.key).map_err(|cause| {
            let path = if cause.concerns_key() { &self.key } else { &self.cert };
            CertificateFileError::Pair { path: path.clone(), cause }
        })
    }
}

fn read(path: &Path, flag: &'static str) -> Result<Vec<u8>, CertificateFileError> {
    fs::read(path).map_err(|cause| CertificateFileError::Read { path: path.to_owned(), flag, cause })
}

/// Follows the two files.
pub struct Follower {
    files: CertificateFiles,
    served: Arc<ServedCertificate>,
    taken: Content,
    refused: Option<Refused>,
}

/// The reading that was last refused; `None` content when it could not be read at all.
struct Refused {
    content: Option<Content>,
    told: bool,
}

impl Follower {
    /// Reads the files every `every`, for ever.
    pub async fn follow(mut self, every: Duration) {
        loop {
            sleep(every).await;
            self.look();
        }
    }

    /// One reading.
    fn look(&mut self) {
        let reading = self.files.read();
        let content = reading.as_ref().ok().cloned();
        if content.as_ref() == Some(&self.taken) {
            return self.settle();
        }
        match reading.and_then(|content| Ok((self.files.parse(&content)?, content))) {
            Ok((pair, content)) => {
                self.served.replace(pair);
                self.taken = content;
                self.refused = None;
            }
            Err(error) => self.refuse(content, &error),
        }
    }

    fn settle(&mut self) {
        match self.refused.take() {
            Some(_) => self.served.settled(),
            None => self.served.review_expiry(),
        }
    }

    /// The first sight of a bad content may be the middle of a rewrite; the second is told, once.
    fn refuse(&mut self, content: Option<Content>, error: &CertificateFileError) {
        match &mut self.refused {
            Some(refused) if refused.content == content => {
                if !refused.told {
                    refused.told = true;
                    self.served.keep(error);
                }
                self.served.review_expiry();
            }
            _ => self.refused = Some(Refused { content, told: false }),
        }
    }
}

#[cfg(test)]
mod tests {
    use rcgen::{CertificateParams, KeyPair};
    use tempfile::TempDir;

    use super::*;
    use crate::telemetry::{Health, Metrics, State};

    struct World {
        dir: TempDir,
        health: Health,
        metrics: Arc<Metrics>,
        follower: Follower,
    }

    fn issue() -> (String, String) {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
        (params.self_signed(&key).unwrap().pem(), key.serialize_pem())
    }

    impl World {
        fn new() -> Self {
            let dir = TempDir::new().unwrap();
            let files =
                CertificateFiles { cert: dir.path().join("tls.crt"), key: dir.path().join("tls.key") };
            let (chain, key) = issue();
            fs::write(&files.cert, chain).unwrap();
            fs::write(&files.key, key).unwrap();
            let (health, metrics) = (Health::new(), Arc::new(Metrics::new(&[])));
            let served = ServedCertificate::new(&health, Arc::clone(&metrics));
            let follower = files.start(served).unwrap();
            Self { dir, health, metrics, follower }
        }

        fn write(&self, name: &str, content: &str) {
            fs::write(self.dir.path().join(name), content).unwrap();
        }

        fn served(&self) -> Arc<Pair> {
            self.follower.served.current.load_full().unwrap()
        }

        fn state(&self) -> State {
            self.health.report().0.remove(0).1
        }

        fn failed_once(&self) -> bool {
            self.metrics.render().contains("sundown_certificate_reload_failures_total 1\n")
        }
    }

    #[test]
    fn a_new_pair_is_taken_and_the_middle_of_a_rewrite_is_not() {
        let mut world = World::new();
        let old = world.served();
        let (chain, key) = issue();
        world.write("tls.crt", &chain);
        world.follower.look();
        assert!(Arc::ptr_eq(&old, &world.served()), "half of a new pair");
        assert_eq!(world.state(), State::Ok, "not worth a word yet");
        world.write("tls.key", &key);
        world.follower.look();
        assert!(!Arc::ptr_eq(&old, &world.served()));
        assert!(!world.failed_once());
    }

    #[test]
    fn a_bad_pair_keeps_the_old_one_and_is_told_once() {
        let mut world = World::new();
        let old = world.served();
        let good = fs::read_to_string(world.dir.path().join("tls.key")).unwrap();
        world.write("tls.key", &issue().1);
        for _ in 0..4 {
            world.follower.look();
        }
        assert!(Arc::ptr_eq(&old, &world.served()));
        assert!(
            matches!(world.state(), State::Degraded(why) if why.contains("tls.crt: certificate and private key"))
        );
        assert!(world.failed_once());
        world.write("tls.key", &good);
        world.follower.look();
        assert_eq!(world.state(), State::Ok);
    }

    #[test]
    fn a_file_that_is_gone_keeps_the_old_pair() {
        let mut world = World::new();
        fs::remove_file(world.dir.path().join("tls.key")).unwrap();
        world.follower.look();
        world.follower.look();
        assert!(matches!(world.state(), State::Degraded(why) if why.contains("correct --tls-key")));
        assert!(world.health.report().is_ready());
    }

    #[test]
    fn at_start_a_bad_file_is_an_error_that_names_it() {
        let world = World::new();
        world.write("tls.crt", "");
        let served = ServedCertificate::new(&Health::new(), Arc::clone(&world.metrics));
        let error = world.follower.files.clone().start(served).err().unwrap().to_string();
        assert!(error.contains("tls.crt: no certificate in it"), "{error}");
    }
}
