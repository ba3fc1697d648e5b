import { CommanderError } from 'commander';
import { safeText } from './api/safe-text.ts';
import { Command, createHelpConfiguration, RefusedLine, type Session } from './commands/command.ts';
import { programOptions } from './commands/options.ts';
import { errorObject, maxShownBody, type SotraError, toSotraError, writeMessage } from './errors.ts';
import { ClosedPipe, type Io } from './lib/io.ts';
import { visibleJson } from './lib/output/json.ts';
import { createMessages, type Messages } from './lib/output/messages.ts';

type Group = readonly [name: string, summary: string, load: NonNullable<Command['loader']>];

/** By their headings in the help. */
const groups: Readonly<Record<string, readonly Group[]>> = {
  'The service:': [
    ['leaderboard', 'Traders ranked by PnL', () => import('./commands/leaderboard/index.ts')],
    ['profile', 'Profiles, positions and followers of traders', () => import('./commands/profile/index.ts')],
    ['follow', 'Follow and unfollow traders', () => import('./commands/follow/index.ts')],
    ['feed', 'What traders did, newest first', () => import('./commands/feed/index.ts')],
    ['token', 'Positions and comments of a token', () => import('./commands/token/index.ts')],
    ['position', 'One position, by trade or by id', () => import('./commands/position/index.ts')],
    ['comment', 'Signed comments on swaps', () => import('./commands/comment/index.ts')],
    ['webhook', 'Register webhooks, receive and replay their events', () => import('./commands/webhook/index.ts')],
  ],
  'The tool:': [
    ['auth', 'Log in, log out, see which key is used', () => import('./commands/auth/index.ts')],
    ['context', 'Services saved under names', () => import('./commands/context/index.ts')],
    ['key', 'Private keys for signing', () => import('./commands/key/index.ts')],
    ['alias', 'Saved names of traders and tokens', () => import('./commands/alias/index.ts')],
    ['sandbox', 'A local service to develop against', () => import('./commands/sandbox/index.ts')],
    ['history', 'The last calls, newest first', () => import('./commands/history/index.ts')],
    ['why', 'Explain why the last command failed and what to do next', () => import('./commands/why/index.ts')],
    ['bundle', 'Write a file for a support ticket', () => import('./commands/bundle/index.ts')],
    ['request', 'Send any request with the API key', () => import('./commands/request/index.ts')],
    ['ui', 'Browse the service on a local page', () => import('./commands/ui/index.ts')],
    ['doctor', 'Check settings, key and connection', () => import('./commands/doctor/index.ts')],
    ['mcp', 'Offer the service to agents (Model Context Protocol)', () => import('./commands/mcp/index.ts')],
    ['openapi', 'Print the OpenAPI 3.1 document of the service', () => import('./commands/openapi/index.ts')],
    ['completion', 'Print the completion script of a shell', () => import('./commands/completion/index.ts')],
    ['help', 'Explain a command, a topic, an error or an exit code', () => import('./commands/help/index.ts')],
  ],
};

/** The program, with groups that are loaded when they are used, so that `--help` and `--version` load commander alone. */
function createProgram(session: Session, write: (text: string) => void): Command {
  const { io } = session;
  const program = new Command('sotra', session)
    .usage('[options] <command>')
    .description('Leaderboards, profiles, positions, signed comments, feeds and webhooks of on-chain traders.')
    .version(io.version, '-V, --version', 'show the version')
    .helpOption('-h, --help', 'show help')
    .configureHelp(createHelpConfiguration(io.out.width))
    .configureOutput({ writeOut: write, writeErr: write })
    .showSuggestionAfterError(false)
    .exitOverride();
  for (const option of programOptions()) program.addOption(option);
  // Subcommands inherit the settings above, as commander has it.
  for (const [heading, listed] of Object.entries(groups))
    for (const [name, summary, load] of listed) {
      // The plural is understood, and shown nowhere.
      const group = program.command(name).alias(`${name}${/[sx]$/.test(name) ? 'es' : 's'}`);
      group.summary(summary).helpGroup(heading).loader = load;
    }
  program.footer = 'One command: sotra <command> --help. Topics, errors, exit codes: sotra help.';
  return program;
}

const ignore = async () => undefined;

/** The program with all its groups, for completions, docs and tests. */
export async function loadProgram(io: Io): Promise<Command> {
  const program = createProgram({ argv: [], io, say: ignore, stream: ignore, run: ignore, exitCode: 0 }, ignore);
  await program.loadAll();
  return program;
}

/**
 * Runs one command line and returns its exit code. The result goes to stdout; notes and errors to stderr, an error as one JSON object in
 * JSON mode.
 */
export async function run(argv: readonly string[], io: Io): Promise<number> {
  const isJson = isJsonMode(argv);
  const messages = createMessages(io.err, isJson);
  const session: Session = {
    argv,
    io,
    say: messages.say,
    stream: messages.release,
    run: async (command, action) => (await import('./commands/run-command.ts')).runCommand(command, action),
    exitCode: 0,
  };
  try {
    await parse(session);
    messages.release();
    await messages.written();
    return session.exitCode;
  } catch (thrown) {
    await messages.written();
    if (thrown instanceof ClosedPipe) return 0;
    const error = toSotraError(thrown);
    await io.err.write(isJson ? formatJsonError(error) : formatError(error, argv, messages)).catch(() => undefined);
    return error.exitCode;
  }
}

/** Errors: those of the command; `usage` with the line to type if it is known. */
async function parse(session: Session): Promise<void> {
  const { argv, io } = session;
  // Commander writes help and the version to callbacks that cannot be awaited.
  let text = '';
  const collect = (part: string) => {
    text += part;
  };
  try {
    // Commander reads it there as the program's own.
    const [first = '', ...rest] = argv;
    const line = first === '-h' || first === '--help' ? [...rest, first] : argv;
    await createProgram(session, collect).parseAsync(line, { from: 'user' });
  } catch (thrown) {
    if (thrown instanceof RefusedLine) {
      const { explainError } = await import('./commands/mistakes.ts');
      const { command, message, code } = thrown;
      throw await explainError(command, { argv, example: command.examples[0]?.argv }, message, code);
    }
    if (!(thrown instanceof CommanderError)) throw thrown;
  }
  if (text !== '') await io.out.write(text);
}

/** Read from the line itself: an option that cannot be read ends the command before the others are known. */
function isJsonMode(argv: readonly string[]): boolean {
  const end = argv.indexOf('--');
  return argv
    .slice(0, end === -1 ? undefined : end)
    .some(
      (word, index) =>
        /^--(json|format=(nd)?json)$/.test(word) || (word === '--format' && /^(nd)?json$/.test(argv[index + 1] ?? '')),
    );
}

function formatJsonError(error: SotraError): string {
  return `${visibleJson(JSON.stringify(errorObject(error)))}\n`;
}

function formatError(error: SotraError, argv: readonly string[], { wrap }: Messages): string {
  const hint = error.hint === undefined ? [] : [wrap(`hint: ${error.hint}`)];
  const body = error.body === undefined ? [] : shownBody(error.body);
  const isOurs = argv.includes('--verbose') && error.code === 'internal' && error.cause instanceof Error;
  const stack = isOurs ? [(error.cause as Error).stack ?? ''] : [];
  return `${[wrap(`error: ${writeMessage(error)}`), ...hint, ...body, ...stack].join('\n')}\n`;
}

function shownBody(body: string): string[] {
  const lines = body.slice(0, maxShownBody).trimEnd().split('\n').map(safeText);
  const left = body.length - maxShownBody;
  return ['The service answered:', ...lines, ...(left > 0 ? [`... and ${left} more characters`] : [])];
}
