import { commandParts, type HelpLine, type Part, programParts } from '../../src/cli/help.ts';
import type { Outline } from '../../src/cli/outline.ts';
import { type ErrorCode, errorExitCodes, exitMeanings } from '../../src/errors.ts';
import { errorTexts } from '../../src/tool/help.ts';
import { wirePage } from './wire.ts';

/** What the site is made from, beside the commands. */
export interface SiteSources {
  version: string;
  /** Address of the sources of this version, without a slash at the end. */
  repository: string;
  /** Markdown by its path in the repository. */
  documents: Readonly<Record<string, string>>;
  /** Texts of `sotra help <topic>`. */
  topics: Readonly<Record<string, string>>;
  /** Declarations of the library by their path in `dist/types`. */
  declarations: Readonly<Record<string, string>>;
  openapi: string;
}

/** The pages of the site by the names of their files. */
export function sitePages(outlines: readonly Outline[], sources: SiteSources): Record<string, string> {
  const { version, documents, topics, declarations, openapi } = sources;
  const written = Object.entries(documents).map(
    ([name, text]) => [pageName(name), relink(name, text, sources)] as const,
  );
  const nouns = [...new Set(outlines.map(({ words }) => words[0] ?? ''))];
  const pages = {
    ...Object.fromEntries(written),
    'index.md': relink('README.md', (documents['README.md'] ?? '').replace(/^## Work on it\n[\s\S]*/m, ''), sources),
    ...Object.fromEntries(nouns.map((noun) => [`commands/${noun}.md`, nounPage(noun, outlines)])),
    'commands/global-flags.md': globalFlagsPage(outlines),
    'topics.md': topicsPage(topics),
    ...typePages(declarations),
    'wire.md': wirePage(JSON.parse(openapi)),
  };
  const says = `<p class="version">For sotra ${version}</p>`;
  return Object.fromEntries(
    Object.entries(pages).map(([name, text]) => [name, text.replace(/^# .*\n/m, (title) => `${title}\n${says}\n`)]),
  );
}

function pageName(name: string): string {
  return name === 'README.md' ? 'index.md' : (name.split('/').at(-1) ?? '').toLowerCase();
}

/** Links between documents lead to their pages, others to the sources. */
function relink(from: string, text: string, { documents, repository }: SiteSources): string {
  return text.replaceAll(/\]\((?!https?:|#)([^)#]*)(#[^)]*)?\)/g, (_, path: string, anchor = '') => {
    const target = new URL(path, `https://site/${from}`).pathname.slice(1);
    if (target.startsWith('test/pictures/')) return `](./${target.slice('test/'.length)})`;
    return `](${target in documents ? `./${pageName(target)}` : `${repository}/${target}`}${anchor})`;
  });
}

/** Each exit code with its errors, what they mean and what helps. */
export function errorTables(): string {
  const codes = Object.keys(errorTexts) as ErrorCode[];
  const exits = Object.entries(exitMeanings).map(([exit, means]): readonly string[] => {
    const own = codes.filter((code) => errorExitCodes[code] === Number(exit));
    return [exit, means, own.map((code) => `[${code}](#${code})`).join(', ') || '–'];
  });
  const errors = codes.flatMap((code) => {
    const [means, fix] = errorTexts[code];
    const sentence = `${means.charAt(0).toUpperCase()}${means.slice(1)}.`;
    return [`### ${code}`, `Exit code ${errorExitCodes[code]}. ${escapeMarkdown(`${sentence} ${fix}`)}`];
  });
  return `${[table(['Exit code', 'Meaning', 'Errors'], exits), '## Errors', ...errors].join('\n\n')}\n`;
}

function nounPage(noun: string, outlines: readonly Outline[]): string {
  const own = outlines.filter(({ words }) => words[0] === noun);
  const sections = own.map((outline) => {
    const [, ...parts] = commandParts(outline, true);
    const body = parts.filter(([, content]) => content.length > 0).map(partText);
    return [`## ${outline.words.join(' ')}`, `${escapeMarkdown(outline.summary)}.`, ...body].join('\n\n');
  });
  return `${[`# sotra ${noun}`, ...sections].join('\n\n')}\n`;
}

function partText([title, content]: Part): string {
  if (typeof content === 'string') return paragraphs(content);
  if (title === 'GLOBAL FLAGS') {
    const names = content.flatMap((line) => (typeof line === 'string' ? [] : [`\`${line[0]}\``]));
    return `**[Global flags](./global-flags.md)** ${names.join(', ')}`;
  }
  const label = `**${title.charAt(0)}${title.slice(1).toLowerCase()}**`;
  if (title === 'USAGE' || title === 'EXAMPLES') return `${label}\n\n${codeBlock(content)}`;
  return `${label}\n\n${table([title === 'EXIT CODES' ? 'Code' : 'Name', 'Meaning'], content.flatMap(labelCells))}`;
}

function labelCells(line: string | HelpLine): (readonly string[])[] {
  return typeof line === 'string' ? [] : [[`\`${line[0]}\``, escapeMarkdown(line[1])]];
}

/** Lines to type, with what they do above them. */
function codeBlock(lines: readonly (string | HelpLine)[]): string {
  const typed = lines.map((line) => (typeof line === 'string' ? line : line[1]));
  return ['```sh', ...typed, '```'].join('\n');
}

/** Paragraphs; those with columns stay as they are. */
function paragraphs(text: string): string {
  const blocks = text.trimEnd().split('\n\n');
  return blocks
    .map((block) => (/\S {2,}\S|^ /m.test(block) ? `\`\`\`text\n${block}\n\`\`\`` : escapeMarkdown(block)))
    .join('\n\n');
}

function globalFlagsPage(outlines: readonly Outline[]): string {
  const [, flags = []] = programParts(outlines, true).find(([title]) => title === 'FLAGS') ?? [];
  const rows = typeof flags === 'string' ? [] : flags.flatMap(labelCells);
  return [
    '# Global flags',
    'A command refuses a global flag that would do nothing there; its page names those that it takes.',
    `${table(['Flag', 'Meaning'], rows)}\n`,
  ].join('\n\n');
}

function topicsPage(topics: Readonly<Record<string, string>>): string {
  const sections = Object.entries(topics).map(([name, text]) => `## ${name}\n\n\`\`\`text\n${text.trimEnd()}\n\`\`\``);
  return `${['# Help topics', 'What `sotra help <topic>` prints.', ...sections].join('\n\n')}\n`;
}

/** The declarations, on pages that are quick to load: the client, what its methods take and give, everything else. */
function typePages(declarations: Readonly<Record<string, string>>): Record<string, string> {
  const { 'library/client.d.ts': client = '', 'library/methods.d.ts': methods = '', ...others } = declarations;
  const [first = '', ...shapes] = methods.split(/^(?=export interface \w+Input )/m);
  const page = (title: string, sections: Readonly<Record<string, string>>) => {
    const blocks = Object.entries(sections).map(([name, text]) => `## ${name}\n\n\`\`\`ts\n${text.trimEnd()}\n\`\`\``);
    return `${[`# ${title}`, 'As the package declares it. [From code](../library.md) shows its use.', ...blocks].join('\n\n')}\n`;
  };
  return {
    'types/client.md': page('Types of the client', { createClient: client, Client: first }),
    'types/inputs.md': page('Types of inputs and answers', { 'Inputs and answers': shapes.join('') }),
    'types/others.md': page('Types of webhooks, signing, sandbox and errors', others),
  };
}

export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

/** Text as Markdown shows it; flags as what is typed. */
export function escapeMarkdown(text: string): string {
  const plain = text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll(/[[\]*_`{}]/g, '\\$&');
  return plain.replaceAll('\n', ' ').replaceAll(/(?<![\w-])--[a-z][\w-]*/g, '`$&`');
}
