import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { manPages } from '../../bin/man/pages.ts';
import { outlineAll } from '../../src/program.ts';

const outlines = await outlineAll();
const pages = manPages(outlines, { version: '1.2.3', date: '2026-11-24', environment: 'ONE\n  A_NAME  what it says' });
const hasGroff = spawnSync('groff', ['--version']).status === 0;

test('every command has a page, packed and linked by npm', () => {
  const names = outlines.map(({ words }) => `sotra-${words.join('-')}.1`);
  expect(Object.keys(pages).sort()).toEqual(['sotra.1', ...names].sort());
  const { man } = JSON.parse(readFileSync('package.json', 'utf8'));
  expect([...man].sort()).toEqual(
    Object.keys(pages)
      .map((name) => `./dist/man/${name}.gz`)
      .sort(),
  );
  expect(gunzipSync(readFileSync('dist/man/sotra-profile-get.1.gz')).toString()).toMatch(
    /^\.TH .* 1 "\d{4}-\d\d-\d\d" "sotra [\s\S]*\.SH SYNOPSIS/,
  );
});

test('a page says what help says: synopsis, inputs, exit status, examples that can be copied', () => {
  const page = pages['sotra-webhook-register.1'] ?? '';
  const titles = [...page.matchAll(/^\.SH (.*)$/gm)].map((match) => match[1]);
  expect(titles.slice(0, 5)).toEqual(['NAME', 'SYNOPSIS', 'DESCRIPTION', 'EXAMPLES', 'OPTIONS']);
  expect(titles.slice(-4)).toEqual(['COLUMNS', 'EXIT STATUS', 'GLOBAL FLAGS', 'SEE ALSO']);
  expect(page).toContain('.TP\n\\fB\\-\\-concurrency <n>\\fR\nrequests at once');
  expect(page).toContain('.TH SOTRA\\-WEBHOOK\\-REGISTER 1 "2026-11-24" "sotra 1.2.3"');
});

test.skipIf(!hasGroff)('groff has nothing to say of any page, and shows what help shows', () => {
  const { status, stderr } = spawnSync('groff', ['-man', '-Tutf8', '-ww', '-z', '-'], {
    input: Object.values(pages).join(''),
    encoding: 'utf8',
  });
  expect([status, stderr]).toEqual([0, '']);
  const shown = execFileSync('groff', ['-man', '-Tascii', '-P-c', '-P-b', '-P-u'], {
    input: pages['sotra-webhook-verify.1'] ?? '',
    encoding: 'utf8',
  });
  expect(shown).toContain("--header 't=1565125718,v1=hU7OTCKs73xmtX1OUEFTvFEllejpx3Ls4qaBUFSMGac' < body.json");
});
