#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| overrule::fuzzing::pick_records(data));
