//! What Linux says of the memory of a process.

/// A field of `/proc/PID/status`, such as `VmHWM`, in KiB.
pub fn kibibytes(process: u32, field: &str) -> u64 {
    let path = format!("/proc/{process}/status");
    let status = std::fs::read_to_string(path).unwrap();
    let stated =
        (status.lines()).find_map(|line| line.strip_prefix(field)?.strip_prefix(':')).unwrap();
    let kibibytes = stated.trim().strip_suffix(" kB").unwrap();
    kibibytes.parse().unwrap()
}
