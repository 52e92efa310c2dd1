//! A scheduler and executors of this machine as children of this process, for measurements and tests.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use crate::Outcome;
use crate::address::Address;

/// Time for processes to start: they ask, so that it is rarely used up.
const START: Duration = Duration::from_secs(120);

/// A process of this program, which is killed when this is dropped, and ends by itself when this process does.
#[derive(Debug)]
pub struct Process(Child);

impl Process {
    /// Starts the program with these arguments. Its standard output is read by `lines` of the child.
    ///
    /// # Errors
    /// A program that cannot be started.
    pub fn start<A: AsRef<OsStr>>(program: &Path, arguments: impl IntoIterator<Item = A>) -> Outcome<Self> {
        let mut command = Command::new(program);
        command.arg("--with-parent").args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
        Ok(Self(command.spawn().map_err(|error| format!("{}: {error}", program.display()))?))
    }

    /// The id of the process.
    pub fn id(&self) -> u32 {
        self.0.id()
    }

    /// How it ended, if it has.
    ///
    /// # Errors
    /// The system does not say.
    pub fn ended(&mut self) -> Outcome<Option<ExitStatus>> {
        Ok(self.0.try_wait()?)
    }

    /// Kills it, by signal 9 on Unix, and waits for its end.
    ///
    /// # Errors
    /// The system does not kill it.
    pub fn kill(&mut self) -> Outcome<()> {
        self.0.kill()?;
        self.0.wait()?;
        Ok(())
    }

    /// The processor time that it has used, of all its threads; of Linux, where a tick is a hundredth of a second.
    ///
    /// # Errors
    /// Another system, or a process that has ended.
    pub fn cpu_seconds(&self) -> Outcome<f64> {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.id()))?;
        // The name of the program is in parentheses, and can have spaces.
        let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields).split_whitespace();
        let ticks: Vec<f64> = fields.skip(11).take(2).filter_map(|field| field.parse().ok()).collect();
        Ok(ticks.iter().sum::<f64>() / 100.0)
    }

    /// The next line of its standard output.
    fn line(&mut self) -> Outcome<String> {
        let mut line = String::new();
        let output = self.0.stdout.take().ok_or("its output is read once")?;
        BufReader::new(output).read_line(&mut line)?;
        Ok(line.trim_end().into())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // One that has ended is killed, too.
        let _ = self.kill();
    }
}

/// A cluster on loopback.
#[derive(Debug)]
pub struct Cluster {
    /// Where the scheduler listens.
    pub address: Address,
    /// The executors, in the order of their options.
    pub executors: Vec<Process>,
    /// Dropped last.
    scheduler: Process,
}

impl Cluster {
    /// Starts a scheduler and executors with these options, on free ports, and returns once all executors are registered.
    ///
    /// # Errors
    /// A process that ends, or does not register.
    pub async fn start(program: &Path, scheduler: &[String], executors: &[Vec<String>]) -> Outcome<Self> {
        let own = ["scheduler", "--listen", "127.0.0.1:0"].map(String::from);
        let mut process = Process::start(program, own.iter().chain(scheduler))?;
        let line = process.line()?;
        let address = line.strip_prefix("scheduler ").ok_or_else(|| format!("the scheduler says {line:?}"))?;
        let address: Address = address.parse()?;
        let mut cluster = Self { address, executors: Vec::new(), scheduler: process };
        executors.iter().try_for_each(|options| cluster.add(program, options))?;
        cluster.wait().await?;
        Ok(cluster)
    }

    /// Starts one more executor, and does not wait for it.
    ///
    /// # Errors
    /// A program that cannot be started.
    pub fn add(&mut self, program: &Path, options: &[String]) -> Outcome<()> {
        let own = ["executor".into(), "--scheduler".into(), self.address.to_string()];
        self.executors.push(Process::start(program, own.iter().chain(options))?);
        Ok(())
    }

    /// The processor time of all its processes.
    ///
    /// # Errors
    /// Those of [`Process::cpu_seconds`].
    pub fn cpu_seconds(&self) -> Outcome<f64> {
        self.executors.iter().chain([&self.scheduler]).map(Process::cpu_seconds).sum()
    }

    async fn wait(&mut self) -> Outcome<()> {
        let start = Instant::now();
        loop {
            for executor in &mut self.executors {
                if let Some(status) = executor.ended()? {
                    return Err(format!("executor {} ended: {status}", executor.id()).into());
                }
            }
            match self.address.executors().await? {
                count if count >= self.executors.len() => return Ok(()),
                count if start.elapsed() > START => return Err(format!("{count} executors are registered").into()),
                _ => tokio::time::sleep(Duration::from_millis(20)).await,
            }
        }
    }
}
