#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| overrule::fuzzing::gold_items(data));
