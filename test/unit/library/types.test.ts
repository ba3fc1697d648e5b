import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

test('the declarations import nothing that the package does not bring', () => {
  const files = readdirSync('dist/types', { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
  const imports = files.flatMap((name) => [
    ...readFileSync(join('dist/types', name), 'utf8').matchAll(/(?:from|import\() ?['"]([^.'"][^'"]*)['"]/g),
  ]);
  expect(imports.map(([, from]) => from)).toEqual([]);
});
