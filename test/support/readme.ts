import { readFileSync } from 'node:fs';

/** The JavaScript of a section of the README, a text each block. */
export function readmeBlocks(section: string): string[] {
  const [, rest = ''] = readFileSync('README.md', 'utf8').split(`### ${section}\n`);
  const [text = ''] = rest.split(/^##/m);
  return [...text.matchAll(/^```js\n([\s\S]*?)^```/gm)].map(([, code = '']) => code);
}
