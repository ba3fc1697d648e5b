// Loads what is mutated before any test: what a module does once, as it is loaded, is not laid to the test that happens to load it first.
for (const file of (process.env['SOTRA_MUTATED'] ?? '').split(' ')) await import(`../../${file}`);
