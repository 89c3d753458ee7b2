//! Says which instruction files apply in a folder, and why the others do not.
//!
//! `cargo run --example explain -- /home/me/app`

use std::{env, error::Error, io::Write as _};

use agents_md::{Discovery, HostFs, Inputs, discover_blocking};

fn main() -> Result<(), Box<dyn Error>> {
    let folder = env::args_os().nth(1).ok_or("give an absolute folder")?;
    let loaded = discover_blocking(&Discovery::default(), &Inputs::local(folder), &HostFs::new())?;
    write!(std::io::stdout(), "{}", loaded.trace())?;
    Ok(())
}
