import fc from 'fast-check';

// The suite draws the same values each time, so that it tells what a change did; FUZZ_SEED=new draws others, FUZZ_SEED=123 those of a failure.
const given = process.env['FUZZ_SEED'];
if (given !== 'new') fc.configureGlobal({ seed: Number(given ?? 1) });

export { fc };
