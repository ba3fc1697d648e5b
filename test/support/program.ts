/** The program that tests start in processes of their own: the proofs name the packed one (test/packed.ts), others run the one just built. */
export const program = process.env['SOTRA_TEST_PROGRAM'] ?? 'bin/sotra.js';
