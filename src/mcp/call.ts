import { type Context, createContext } from '../context.ts';
import { mayQuote, type SotraError, seeHelp, toSotraError } from '../errors.ts';
import { safeText } from '../model/safe-text.ts';
import type { Io, LocalSandbox, World } from '../world.ts';
import { untrustedWarning } from './answer.ts';
import { Question, type Tool, type ToolAnswer } from './tool.ts';

export interface CallOutcome {
  text: string;
  structured?: ToolAnswer['structured'];
  isError?: true;
}

export interface CallOptions {
  tool: Tool;
  input: Readonly<Record<string, unknown>>;
  signal: AbortSignal;
  confirm: (text: string) => Promise<void>;
}

/** Runs tools in contexts of their own, which share the sandbox; `close` ends it. Errors of tools are answers. Errors: `Question`. */
export function createCaller(context: Context) {
  const sandbox = sharedSandbox(context.world);
  return {
    call: async ({ tool, input, signal, confirm }: CallOptions): Promise<CallOutcome> => {
      const notes: string[] = [];
      const own = createOwnContext(context, {
        signal,
        open: sandbox.open,
        say: (line) => void notes.push(safeText(line)),
      });
      let exitCode = 0;
      try {
        const { text, structured } = await tool.call(input, { context: own, notes, confirm });
        return { text, structured };
      } catch (thrown) {
        if (thrown instanceof Question) throw thrown;
        const told = notes.map((note) => `\nnote*: ${note}`).join('');
        const error = toSotraError(thrown);
        exitCode = error.exitCode;
        return { text: (await formatError(error, input)) + told, isError: true };
      } finally {
        await own.close(exitCode);
      }
    },
    close: sandbox.close,
  };
}

/** The sandbox of this process, opened by the first call that needs it. */
function sharedSandbox(world: World) {
  let opened: Promise<LocalSandbox> | undefined;
  const open: World['openSandbox'] = async (options) => {
    opened ??= world.openSandbox(options);
    const shared = await opened;
    return { ...shared, close: async () => undefined };
  };
  return { open, close: async () => (await opened)?.close() };
}

interface CallContext {
  /** Of the request: it ends with the server too. */
  signal: AbortSignal;
  open: World['openSandbox'];
  say: (line: string) => void;
}

function createOwnContext(
  { argv, world, options, program, runLine, note, stream }: Context,
  { signal, open, say }: CallContext,
): Context {
  return createContext({
    argv,
    world: { ...world, io: silentIo(world.io), signal, openSandbox: open },
    options: { ...options, format: 'json', quiet: false, yes: true, noInput: true },
    program,
    runLine,
    say,
    trace: note,
    stream,
  });
}

/** Stdin and stdout belong to the protocol. */
function silentIo(io: Io): Io {
  const out = { ...io.out, isTTY: false, write: async () => undefined };
  return { out, err: { ...io.err, isTTY: false }, in: emptyInput(), ask: io.ask };
}

async function* emptyInput(): AsyncGenerator<Uint8Array> {}

async function formatError(error: SotraError, input: Readonly<Record<string, unknown>>): Promise<string> {
  const { code, message, hint, retryAfterSec } = error;
  const [star, warning] = mayQuote(error) ? ['*', [untrustedWarning]] : ['', []];
  const { hidingTyped } = await import('../keys/typed-secrets.ts');
  const hide = await hidingTyped(textsIn(input), error);
  const lines = [
    ...warning,
    `error${star}: ${message}`,
    ...(hint === undefined || hint === seeHelp ? [] : [`fix${star}: ${hint}`]),
    `code: ${code}${retryAfterSec === undefined ? '' : `; retry after ${retryAfterSec} s`}`,
  ];
  return hide(lines.map(safeText).join('\n'));
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}
