import { commandParts, type HelpLine, type Part, programParts } from '../../src/cli/help.ts';
import type { Outline } from '../../src/cli/outline.ts';

/** The man pages by the names of their files: `sotra.1`, and one a command, such as `sotra-webhook-register.1`. */
export function manPages(
  outlines: readonly Outline[],
  { version, date, environment }: { version: string; date: string; environment: string },
): Record<string, string> {
  const page = (name: string, summary: string, parts: readonly Part[]) =>
    pageOf(`.TH ${escaped(name.toUpperCase())} 1 "${date}" "sotra ${version}"`, name, summary, parts);
  const main = page('sotra', 'social trading from the command line', [
    ...programParts(outlines, true).slice(1),
    ['ENVIRONMENT', environment],
    ['SEE ALSO', outlines.map((outline) => `${nameOf(outline)}(1)`).join(', ')],
  ]);
  const others = outlines.map((outline) => {
    const name = nameOf(outline);
    const [, ...parts] = commandParts(outline, true);
    return [`${name}.1`, page(name, outline.summary, [...parts, ['SEE ALSO', 'sotra(1)']])] as const;
  });
  return { 'sotra.1': main, ...Object.fromEntries(others) };
}

/** Of the page of a command, without its section. */
function nameOf({ words }: Pick<Outline, 'words'>): string {
  return ['sotra', ...words].join('-');
}

function pageOf(head: string, name: string, summary: string, parts: readonly Part[]): string {
  const told = parts.filter(([, body]) => body.length > 0);
  const isSynopsis = ([title]: Part) => title === 'USAGE';
  const sections = [...told.filter(isSynopsis), ...told.filter((part) => !isSynopsis(part))].map(section);
  return `${[head, '.SH NAME', `${escaped(name)} \\- ${escaped(summary)}`, ...sections].join('\n')}\n`;
}

/** Other names of sections, as man pages have them. */
const titles: Record<string, string> = {
  '': 'DESCRIPTION',
  USAGE: 'SYNOPSIS',
  FLAGS: 'OPTIONS',
  'EXIT CODES': 'EXIT STATUS',
};

function section([title, body]: Part): string {
  const lines = typeof body === 'string' ? prose(body) : body.flatMap((line) => itemLines(line));
  return [`.SH ${titles[title] ?? title}`, ...lines].join('\n');
}

/** Paragraphs; lines with columns, and those between them, stay as they are. */
function prose(text: string): string[] {
  return text
    .trimEnd()
    .split('\n\n')
    .flatMap((paragraph) => {
      const lines = paragraph.split('\n').map(escaped);
      return ['.PP', ...(/\S {2,}\S|^ /m.test(paragraph) ? ['.nf', ...lines, '.fi'] : lines)];
    });
}

function itemLines(line: string | HelpLine): string[] {
  if (typeof line === 'string') return ['.PP', '.nf', `\\fB${escaped(line)}\\fR`, '.fi'];
  const [label, says] = line;
  return label === '' ? ['.PP', escaped(says)] : ['.TP', `\\fB${escaped(label)}\\fR`, escaped(says)];
}

/** Text for roff: nothing in it is a request, and what is typed can be copied from the page. */
function escaped(text: string): string {
  const plain = text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll("'", '\\(aq')
    .replaceAll('`', '\\(ga')
    .replaceAll('^', '\\(ha')
    .replaceAll('~', '\\(ti')
    .replaceAll(
      /[^\x20-\x7e]/gu,
      (character) => `\\[u${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}]`,
    );
  return /^[. ]/.test(plain) ? `\\&${plain}` : plain;
}
