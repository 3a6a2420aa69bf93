//! The server in a process of its own, so that its CPU and memory can be told apart.

use std::env;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{self, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use sundown::server::{Options, Server, Shutdown};
use sundown::telemetry::{self, Health, LogFormat, LogOptions, Metrics};
use sundown::tls::{Ephemeral, ServedCertificate, server_config};

use crate::process::{pin, rss_mib};
use crate::reviewers::Kind;

/// A running server; killed when dropped.
pub(crate) struct Child {
    process: process::Child,
    pub(crate) address: SocketAddr,
    pub(crate) ca_pem: String,
    /// From starting the process to the port being open.
    pub(crate) started_in: Duration,
}

impl Child {
    pub(crate) fn start(kind: Kind) -> Self {
        let start = Instant::now();
        let mut process = Command::new(env::current_exe().unwrap())
            .arg(kind.argument())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines().map_while(Result::ok);
        let address = lines.next().expect("an address").parse().unwrap();
        let started_in = start.elapsed();
        let ca_pem = lines.take_while(|line| !line.is_empty()).map(|line| line + "\n").collect();
        pin(process.id(), 0);
        Self { process, address, ca_pem, started_in }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.process.id()
    }

    pub(crate) fn rss_mib(&self) -> f64 {
        rss_mib(self.pid())
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        // It may have died by itself.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Serves until killed; address and CA go to stdout, and then an empty line.
pub(crate) fn serve(kind: Kind) {
    let log = LogOptions::from_env(LogFormat::Json, 0);
    let _guard = telemetry::init(&log).unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    runtime.block_on(async {
        let any = SocketAddr::from(([127, 0, 0, 1], 0));
        let (health, metrics) = (Health::new(), Arc::new(Metrics::new(&[])));
        let served = ServedCertificate::new(&health, Arc::clone(&metrics));
        let ephemeral = Ephemeral::issue(&[]).unwrap();
        served.replace(ephemeral.pair);
        let tls = server_config(served).unwrap();
        let server =
            Server { options: Options::new(any, any), reviewer: kind.reviewer(), tls, health, metrics };
        let bound = server.bind().await.unwrap();
        println!("{}\n{}", bound.address(), ephemeral.ca_pem.trim_end());
        println!();
        let (_trigger, shutdown) = Shutdown::new();
        bound.serve(shutdown).await
    });
}
