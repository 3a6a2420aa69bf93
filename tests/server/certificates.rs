//! Certificates that are replaced while requests flow.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rcgen::{CertificateParams, CertifiedIssuer, KeyPair};
use sundown::telemetry::State;
use sundown::tls::CertificateFiles;
use tempfile::TempDir;
use tokio::time::{sleep, timeout};

use crate::support::{PATIENCE, World};

const POLL: Duration = Duration::from_millis(10);

/// An authority that outlives the certificates it signs.
struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    fn new() -> Self {
        let mut params = CertificateParams::new(vec![]).unwrap();
        params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        Self(CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap())
    }

    /// Chain and key, both PEM, and the leaf's DER.
    fn issue(&self) -> (String, String, Vec<u8>) {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
        let leaf = params.signed_by(&key, &self.0).unwrap();
        (leaf.pem(), key.serialize_pem(), leaf.der().to_vec())
    }
}

/// A server that follows a directory laid out as a Secret volume is.
struct Mounted {
    world: Arc<World>,
    authority: Authority,
    dir: TempDir,
    first: Vec<u8>,
}

impl Mounted {
    async fn start() -> Self {
        let (authority, dir) = (Authority::new(), TempDir::new().unwrap());
        let (chain, key, first) = authority.issue();
        write(&dir.path().join("..v1"), &chain, &key);
        symlink("..v1", dir.path().join("..data")).unwrap();
        for name in ["tls.crt", "tls.key"] {
            symlink(Path::new("..data").join(name), dir.path().join(name)).unwrap();
        }
        let mut world = World::start(|_| {}).await;
        world.ca_pem = authority.0.pem();
        let files = CertificateFiles { cert: dir.path().join("tls.crt"), key: dir.path().join("tls.key") };
        tokio::spawn(files.start(Arc::clone(&world.served)).unwrap().follow(POLL));
        Self { world: Arc::new(world), authority, dir, first }
    }

    /// Swaps `..data` as the kubelet does.
    fn swap(&self, version: &str, chain: &str, key: &str) {
        write(&self.dir.path().join(version), chain, key);
        symlink(version, self.dir.path().join("..data_tmp")).unwrap();
        fs::rename(self.dir.path().join("..data_tmp"), self.dir.path().join("..data")).unwrap();
    }

    async fn until_served(&self, leaf: &[u8]) {
        let served = async {
            while self.world.connect(&[]).await.certificate() != leaf {
                sleep(POLL).await;
            }
        };
        timeout(PATIENCE, served).await.expect("the new certificate");
    }

    fn certificate(&self) -> State {
        let report = self.world.health.report();
        report.0.into_iter().find(|(name, _)| *name == "certificate").unwrap().1
    }
}

fn write(dir: &Path, chain: &str, key: &str) {
    fs::create_dir_all(dir).unwrap();
    fs::write(dir.join("tls.crt"), chain).unwrap();
    fs::write(dir.join("tls.key"), key).unwrap();
}

/// Posts on fresh and on kept connections until told to stop; how many requests were answered.
async fn flow(world: Arc<World>, stop: Arc<AtomicBool>) -> usize {
    let mut kept = world.connect(&[b"http/1.1"]).await;
    let mut answered = 0;
    while !stop.load(Ordering::Relaxed) {
        assert_eq!(kept.post("/pods/enforce", "{}").await.status, 200);
        assert_eq!(world.connect(&[]).await.post("/pods/enforce", "{}").await.status, 200);
        answered += 2;
    }
    answered
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn swaps_and_rewrites_are_served_and_fail_no_request() {
    let mounted = Mounted::start().await;
    mounted.until_served(&mounted.first).await;
    let stop = Arc::new(AtomicBool::new(false));
    let flowing = tokio::spawn(flow(Arc::clone(&mounted.world), Arc::clone(&stop)));
    let (chain, key, second) = mounted.authority.issue();
    mounted.swap("..v2", &chain, &key);
    mounted.until_served(&second).await;
    let (chain, key, third) = mounted.authority.issue();
    write(&mounted.dir.path().join("..v2"), &chain, &key);
    mounted.until_served(&third).await;
    stop.store(true, Ordering::Relaxed);
    assert!(flowing.await.unwrap() >= 2);
    assert_eq!(mounted.certificate(), State::Ok);
}

#[tokio::test]
async fn a_key_of_another_certificate_keeps_the_old_pair_and_shows() {
    let mounted = Mounted::start().await;
    let ((chain, _, _), (_, key, _)) = (mounted.authority.issue(), mounted.authority.issue());
    mounted.swap("..v2", &chain, &key);
    mounted.world.until_metric("sundown_certificate_reload_failures_total 1").await;
    assert_eq!(mounted.world.connect(&[]).await.certificate(), mounted.first);
    assert!(matches!(mounted.certificate(), State::Degraded(why) if why.contains("do not belong together")));
    assert_eq!(mounted.world.admin_get("/readyz").await.status, 200);
    let (chain, key, mended) = mounted.authority.issue();
    mounted.swap("..v3", &chain, &key);
    mounted.until_served(&mended).await;
    assert_eq!(mounted.certificate(), State::Ok);
}
