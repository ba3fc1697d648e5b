import { Help, type Option } from 'commander';
import { local } from '../../api/endpoint.ts';
import { listOf, optional, text } from '../../api/kind.ts';
import { nearest } from '../../api/nearest.ts';
import { type ErrorCode, errorExitCodes, exitMeanings, findErrorCodes, usageError } from '../../errors.ts';
import { readAsset } from '../../lib/files/asset.ts';
import type { Command } from '../command.ts';
import { createHelpConfiguration } from '../command.ts';
import { describeSharedOptions } from '../options.ts';

export const topics = [
  'options',
  'exit-codes',
  'environment',
  'contexts',
  'ci',
  'bulk',
  'formatting',
  'signing',
  'webhooks',
  'scaling',
  'agents',
] as const;

type Topic = (typeof topics)[number];

export function setUp(help: Command): void {
  help
    .description(`Topics: ${topics.join(', ')}.`)
    .params({
      words: local(
        optional(listOf(text())),
        'a topic, the words of a command, an error code, an exit code or an HTTP status',
        { positional: true, noCommaSplit: true },
      ),
    })
    .example('help webhook listen', 'a command')
    .example('help exit-codes', 'what each exit code means')
    .example('help rate-limited', 'one error code, or exit code (help 7), and what helps')
    .prints()
    .run(async ({ words = [] }, { io }) => {
      const topic = words.join(' ');
      const shown = (await findText(topic, io.out.width)) ?? (await findCommandHelp(help, words));
      if (shown === undefined) throw unknownTopic(help, topic);
      return { kind: 'answer', answer: { topic, text: shown }, drawn: shown };
    });
}

/** The help of the program or of a command, its group loaded first. */
async function findCommandHelp(help: Command, words: readonly string[]): Promise<string | undefined> {
  let found = help.parent as Command;
  for (const word of words) {
    await found.load();
    const next = found.findSubcommand(word);
    if (next === undefined) return undefined;
    found = next;
  }
  await found.load();
  return found.helpInformation();
}

function unknownTopic({ parent }: Command, topic: string) {
  const groups = parent?.commands.map((each) => each.name()) ?? [];
  const near = nearest(topic, [...topics, ...Object.keys(errorTexts)]) ?? nearest(topic.split(' ')[0] ?? '', groups);
  return usageError(
    `no help on '${topic}'`,
    near === undefined
      ? `Topics: ${topics.join(', ')}; an exit code such as 7; or the words of a command.`
      : `Did you mean sotra help ${near}?`,
  );
}

/** The text of a topic, an error code, an exit code or an HTTP status. */
async function findText(word: string, width: number): Promise<string | undefined> {
  const topic = topics.find((each) => each === word);
  if (topic === 'options') return layOut(describeOptions(), width);
  if (topic !== undefined) return layOut(readTopic(topic), width);
  const isStatus = /^[45]\d\d$/.test(word);
  const page = describeError(isStatus ? (await import('../../client/failures.ts')).findStatusCode(Number(word)) : word);
  return page && layOut(page, width);
}

function readTopic(topic: Topic): string {
  return readAsset(`topics/${topic}.txt`)
    .toString()
    .trimEnd()
    .replace('{exit codes}', () => Object.entries(exitMeanings).map(describeExit).join('\n'));
}

function describeExit([code, says]: [code: string, says: string]): string {
  const names = findErrorCodes(Number(code));
  return `  ${code}  ${says}${names.length === 0 ? '' : ` [${names.join(', ')}]`}`;
}

function describeOptions(): string {
  const list = describeSharedOptions().map(({ flags, description }: Option) => `  ${flags}  ${description}`);
  return [
    'Options that many commands share. They go after the name of the command; a command that cannot use one refuses it.',
    `OPTIONS\n${list.join('\n')}`,
    'The options of the program (sotra --help) work anywhere on the line.',
  ].join('\n\n');
}

function describeError(word: string): string | undefined {
  const exit = Object.hasOwn(errorTexts, word) ? errorExitCodes[word as ErrorCode] : Number(word);
  const meaning = /^[\w-]+$/.test(word) ? exitMeanings[exit] : undefined;
  if (meaning === undefined) return undefined;
  const shown = findErrorCodes(exit).filter((name) => name === word || !Object.hasOwn(errorTexts, word));
  const blocks = shown.map(
    (name) => `${name.toUpperCase()}\n${asSentence(errorTexts[name][0])} ${errorTexts[name][1]}`,
  );
  return [`Exit code ${exit}: ${meaning}.`, ...blocks, 'MORE\n  sotra help exit-codes'].join('\n\n');
}

function asSentence(words: string): string {
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}.`;
}

/** Blocks with a title or without, of prose or of indented lines, in which two spaces end a label; wrapped as commander wraps help. */
function layOut(page: string, width: number): string {
  const help = Object.assign(new Help(), { helpWidth: 80 }, createHelpConfiguration(width));
  const blocks = page.split('\n\n').map((block) => {
    const lines = block.split('\n');
    const title = /^[A-Z][A-Z -]{3,}(\(.*\))?$/.test(lines[0] ?? '') ? lines.splice(0, 1) : [];
    if (!lines[0]?.startsWith('  ')) return [...title, help.boxWrap(lines.join(' '), help.helpWidth)];
    const items = lines.map((line) => line.trim().split(/ {2,}/, 2) as [string, string?]);
    const labelWidth = Math.min(34, Math.max(...items.map(([label, says]) => (says === undefined ? 0 : label.length))));
    const format = (label: string, says: string) => help.formatItem(label, labelWidth, says, help);
    return [
      ...title,
      ...items.flatMap(([label, says = '']) =>
        says !== '' && label.length > labelWidth ? [format(label, ''), format('', says)] : [format(label, says)],
      ),
    ];
  });
  return `${blocks.map((lines) => lines.join('\n')).join('\n\n')}\n`;
}

/** What each error means, and what helps. */
export const errorTexts: Record<ErrorCode, readonly [means: string, fix: string]> = {
  internal: ['a bug in sotra', 'Run the command again with --verbose and report what it prints.'],
  usage: ['a flag, argument or file was refused before anything was sent', 'The message names it; see --help.'],
  'no-service': ['no service was named', 'Log in with sotra auth login, use --sandbox, or set SOTRA_BASE_URL.'],
  'insecure-url': ['a key or password would be sent in the clear', 'Use https or tls; http and nats only to loopback.'],
  config: ['the settings, or a local file or folder, cannot be used', 'Run sotra doctor.'],
  locked: ['another process is using it', 'Wait until that process has ended, or end it.'],
  'local-file': ['a file cannot be read or written', 'Check its path, its permissions and the disk space.'],
  'key-missing': ['there is no API key for the service', 'Set SOTRA_API_KEY, or run sotra auth login.'],
  'key-refused': ['the service refused the API key (401)', 'Run sotra auth status to see which key is used.'],
  forbidden: ['the API key may not do this (403)', 'Ask the service for the permission, or use another key.'],
  'not-found': ['the service has no such item (404)', 'Check the identifier with sotra profile get.'],
  'bad-request': ['the service refused the request (400)', 'See what was sent with --verbose or --curl.'],
  conflict: ['it already exists or was changed in the meantime (409)', 'Choose another name, or look at it first.'],
  'too-large': ['the request was too large for the service (413)', 'Send fewer items at a time.'],
  'request-refused': ['the service refused the request (another 4xx)', 'See its answer with --verbose.'],
  'rate-limited': [
    'the service asked to slow down (429), also after all retries',
    'Wait as long as it says (retryAfterSec in the JSON error), or allow a longer wait with --timeout.',
  ],
  'server-error': ['the service failed (5xx), also after all retries', 'Try again later, or report the request id.'],
  network: ['the connection failed or broke', 'Check the base URL and the network with sotra doctor.'],
  timeout: ['no answer in time', 'Allow more with --timeout.'],
  redirect: ['the service redirected to another address, and the key is not sent there', 'Correct the base URL.'],
  partial: ['part of the work was done; the rest can be resumed', 'Run the command that the message names.'],
  'signing-key': ['the private key cannot be read or used', 'Check the key with sotra key list or its file.'],
  verification: ['a signature, delivery or returned comment failed verification', 'The message names the check.'],
  'bad-answer': ['the answer is not JSON, too large or cannot be decoded', 'Check that the base URL is the service.'],
  contract: ['the answer does not match the interface', 'See the raw answer with sotra request.'],
  'wait-timeout': ['the command gave up waiting', 'Wait longer, or check what it was waiting for.'],
  interrupted: ['Ctrl-C (130), SIGTERM (143) or SIGHUP (129) ended it', 'Run it again; uploads resume.'],
};
