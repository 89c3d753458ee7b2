//! What the command takes from the machine: folders, the clock, the shell. Nothing else here asks for any of it.

#![expect(clippy::disallowed_methods, reason = "this is the module that asks")]

use std::{
    env, fs,
    io::ErrorKind,
    path::{Component, Path, PathBuf},
};

use jiff::{Timestamp, civil::Date, tz::TimeZone};
use session::rollout::Owner;

use crate::exit::Failure;

/// The folder that the agent works in: `given`, or the current one. Symbolic links in it stay.
pub(crate) fn folder(given: Option<&Path>) -> Result<PathBuf, Failure> {
    let current = || env::current_dir().map_err(|error| Failure::new(format_args!("no current directory: {error}")));
    let Some(given) = given else { return current() };
    check_folder(given)?;
    let absolute = if given.is_absolute() { given.to_path_buf() } else { current()?.join(given) };
    if absolute.components().any(|component| component == Component::ParentDir) {
        // What lies above `link/..` is known only to the file system.
        return fs::canonicalize(&absolute).map_err(|error| Failure::new(format_args!("{}: {error}", given.display())));
    }
    Ok(absolute.components().collect())
}

/// The folder that instructions are asked for: `given`, or the one that the file `given` lies in.
pub(crate) fn folder_of(given: Option<&Path>) -> Result<PathBuf, Failure> {
    match given {
        Some(file) if fs::metadata(file).is_ok_and(|metadata| !metadata.is_dir()) => {
            let parent = file.parent().filter(|parent| !parent.as_os_str().is_empty());
            folder(Some(parent.unwrap_or(Path::new("."))))
        }
        other => folder(other),
    }
}

/// The folder of the global instructions: `given`, which has to be there, or the usual one, which need not.
pub(crate) fn home(given: Option<&Path>) -> Result<Option<PathBuf>, Failure> {
    if given.is_some() {
        return folder(given).map(Some);
    }
    let named = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let Some(usual) = named("CODEX_HOME").or_else(|| env::home_dir().map(|home| home.join(".codex"))) else {
        return Ok(None);
    };
    match fs::metadata(&usual) {
        Ok(metadata) if !metadata.is_dir() => Err(Failure::new(format_args!("not a directory: {}", usual.display()))),
        _ => std::path::absolute(&usual)
            .map(Some)
            .map_err(|error| Failure::new(format_args!("{}: {error}", usual.display()))),
    }
}

fn check_folder(path: &Path) -> Result<(), Failure> {
    let shown = path.display();
    match fs::read_dir(path) {
        Ok(_) => Ok(()),
        Err(error) => Err(match error.kind() {
            ErrorKind::NotFound => Failure::new(format_args!("no such directory: {shown}")),
            ErrorKind::NotADirectory => Failure::new(format_args!("not a directory: {shown}")),
            ErrorKind::PermissionDenied => {
                Failure::new(format_args!("cannot read directory: {shown}: permission denied"))
            }
            _ => Failure::new(format_args!("cannot read directory: {shown}: {error}")),
        }),
    }
}

/// The name of the user's shell, such as `bash`.
pub(crate) fn shell() -> Option<String> {
    let shell = PathBuf::from(env::var_os("SHELL")?);
    shell.file_stem()?.to_str().map(str::to_owned)
}

/// A time zone by its name, or the system's.
pub(crate) fn timezone(given: Option<&str>) -> Result<TimeZone, Failure> {
    match given {
        Some(name) => TimeZone::get(name)
            .map_err(|_| Failure::new(format_args!("unknown time zone `{name}` for '--timezone <TZ>'"))),
        None => Ok(TimeZone::system()),
    }
}

/// Today in a time zone.
pub(crate) fn today(timezone: &TimeZone) -> Date {
    Timestamp::now().to_zoned_datetime(timezone.clone()).date()
}

/// This process, as the lock of a session names it.
pub(crate) fn owner() -> Owner {
    let name = fs::read_to_string("/proc/sys/kernel/hostname").ok();
    let name = name.as_deref().map(str::trim).filter(|name| !name.is_empty());
    Owner::this_process(name.unwrap_or("localhost"), Timestamp::now().as_millisecond())
}
