//! Where a process listens, and whether it answers.

use std::fmt;
use std::str::FromStr;
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::Outcome;

/// `HOST:PORT`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    /// A name or an IP address.
    pub host: String,
    /// The port.
    pub port: u16,
}

impl FromStr for Address {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.rsplit_once(':').filter(|(host, _)| !host.is_empty());
        let parsed = parts.and_then(|(host, port)| Some(Self { host: host.into(), port: port.parse().ok()? }));
        parsed.ok_or_else(|| format!("{text:?} is given; required: HOST:PORT, such as 10.0.0.1:50050"))
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.host, self.port)
    }
}

/// Time for one answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// Time between two questions.
const PAUSE: Duration = Duration::from_millis(50);

impl Address {
    /// Asks the scheduler at this address how many executors it has: `GET /readyz`.
    ///
    /// # Errors
    /// Nothing answers, or no scheduler.
    pub async fn executors(&self) -> Outcome<usize> {
        let answer = timeout(PATIENCE, self.ask("/readyz")).await;
        let answer = answer.map_err(|_| format!("{self} accepts connections, but does not answer"))?;
        let answer = answer.map_err(|error| format!("no scheduler at {self}: {error}"))?;
        // `ready: 2 executors registered`, or `not ready: 0/1 executors registered`.
        let (_, body) = answer.split_once("\r\n\r\n").unwrap_or_default();
        let number = body.split_once("ready: ").and_then(|(_, rest)| rest.split([' ', '/']).next()?.parse().ok());
        number.ok_or_else(|| format!("{self} is no scheduler: it answers {answer:?}").into())
    }

    async fn ask(&self, path: &str) -> std::io::Result<String> {
        let mut stream = TcpStream::connect((self.host.trim_matches(['[', ']']), self.port)).await?;
        let question = format!("GET {path} HTTP/1.1\r\nHost: {self}\r\nConnection: close\r\n\r\n");
        stream.write_all(question.as_bytes()).await?;
        let mut answer = Vec::new();
        stream.take(1 << 16).read_to_end(&mut answer).await?;
        Ok(String::from_utf8_lossy(&answer).into_owned())
    }

    /// Waits until a scheduler answers that has at least so many executors.
    ///
    /// # Errors
    /// It does not within `wait`.
    pub async fn wait(&self, wait: Duration, least: usize) -> Outcome<()> {
        let start = Instant::now();
        loop {
            let why = match self.executors().await {
                Ok(executors) if executors >= least => return Ok(()),
                Ok(executors) => {
                    format!("the scheduler at {self} has {executors} executors; required: {least} or more").into()
                }
                Err(why) => why,
            };
            if start.elapsed() >= wait {
                return Err(why);
            }
            tokio::time::sleep(PAUSE).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_those_of_their_texts() {
        for text in ["localhost:50050", "10.0.0.1:1", "[::1]:65535"] {
            assert_eq!(text.parse::<Address>().expect(text).to_string(), text);
        }
        for text in ["", "localhost", ":50050", "localhost:", "localhost:65536", "localhost:-1"] {
            let error = text.parse::<Address>().expect_err(text);
            assert!(error.contains("HOST:PORT"), "{error}");
        }
    }

    #[tokio::test]
    async fn an_address_without_a_scheduler_is_an_error() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = Address { host: "127.0.0.1".into(), port: listener.local_addr().expect("an address").port() };
        drop(listener);
        let error = address.wait(Duration::ZERO, 1).await.expect_err("nobody listens").to_string();
        assert!(error.starts_with(&format!("no scheduler at {address}: ")), "{error}");
    }
}
