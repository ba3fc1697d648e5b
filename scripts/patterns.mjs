// Every regular expression of src, checked for a time that is linear in the text: `npm run patterns` ends with 1 and says which are not.
import { readdirSync, readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { parseAst } from 'rolldown/parseAst';
import { analyse } from 'scslre';

/** Files that build patterns at run time; what they build is tried in test/prove/attacks-regex.prove.ts. */
const builders = [
  'http/secrets.ts',
  'tool/request.ts',
  'output/json.ts',
  'model/safe-text.ts',
  'files/table.ts',
  'sandbox/http/answer.ts',
  'sandbox/http/fault.ts',
];

/** The patterns as `{ file, line, source, flags }`, and the places `file:line` that build one where it is not expected. */
export function patternsOf(folder) {
  const patterns = [];
  const strays = [];
  for (const file of readdirSync(folder, { recursive: true }).filter((name) => /\.tsx?$/.test(name))) {
    const text = readFileSync(`${folder}/${file}`, 'utf8');
    const lineOf = (at) => text.slice(0, at).split('\n').length;
    visit(parseAst(text, { lang: file.endsWith('x') ? 'tsx' : 'ts' }), (node) => {
      const at = { file, line: lineOf(node.start) };
      if (node.type === 'Literal' && node.regex)
        patterns.push({ ...at, source: node.regex.pattern, flags: node.regex.flags });
      if (node.type === 'NewExpression' && node.callee.name === 'RegExp' && !builders.includes(file))
        strays.push(`${file}:${at.line}`);
    });
  }
  return { patterns, strays };
}

function visit(node, act) {
  if (Array.isArray(node)) for (const each of node) visit(each, act);
  else if (typeof node === 'object' && node !== null) {
    if (typeof node.type === 'string') act(node);
    for (const each of Object.values(node)) visit(each, act);
  }
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const { patterns, strays } = patternsOf('src');
  const slow = patterns.flatMap(({ file, line, source, flags }) => {
    const [report] = analyse({ source, flags }, { maxReports: 1 }).reports;
    return report === undefined
      ? []
      : [`${file}:${line} /${source}/${flags}: many of ${report.character.literal.source}`];
  });
  const lines = [
    ...slow.map((each) => `not linear: ${each}\n`),
    ...strays.map((each) => `builds a pattern that nothing checks: ${each}\n`),
  ];
  process.stderr.write(lines.join(''));
  process.exitCode = lines.length === 0 ? 0 : 1;
}
