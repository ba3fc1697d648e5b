import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import type { Context } from '../context.ts';
import { SotraError } from '../errors.ts';
import { keyError } from './private-key.ts';
import type { Signer } from './signer.ts';

/** What a person at a hardware wallet may take, unless `--timeout` says otherwise. */
const signMs = 600_000;
const maxSignatureChars = 4096;

/**
 * A signer for which a command of the user's signs, run by the shell once a text: the text on stdin, the signature on stdout, questions on
 * stderr. The command is not given the API key. Errors of `sign`: `signing-key`, `wait-timeout`, `interrupted`.
 */
export function commandSigner(command: string, address: string, context: Context): Signer {
  return { address, sign: (message) => signBy(command, message, context), wipe: () => undefined };
}

async function signBy(command: string, message: string, { world, options }: Context): Promise<string> {
  const { SOTRA_API_KEY: _, ...env } = world.env;
  const limitMs = options.typedTimeoutMs ?? signMs;
  const ended = new AbortController();
  const late = world.sleep(limitMs, AbortSignal.any([ended.signal, world.signal])).then(
    () => 'late' as const,
    () => 'stopped' as const,
  );
  const child = spawn(command, { shell: true, env: { ...env }, stdio: ['pipe', 'pipe', 'inherit'] });
  try {
    const outcome = await Promise.race([outcomeOf(child, message), late]);
    if (outcome === 'late')
      throw new SotraError(
        'wait-timeout',
        `--signer-command did not sign within ${limitMs / 1000} s: nothing was signed`,
        {
          hint: 'Wait longer: --timeout 30m.',
        },
      );
    if (outcome === 'stopped' || world.signal.aborted)
      throw new SotraError('interrupted', 'interrupted: nothing was signed');
    const { code, out } = outcome;
    if (code !== 0)
      throw keyError(`--signer-command ended with ${code ?? 'a signal'}: nothing was signed`, commandHint);
    if (out === '') throw keyError('--signer-command printed no signature', commandHint);
    return out;
  } finally {
    ended.abort();
    child.kill();
    // What the shell started ends with its pipe.
    child.stdout.destroy();
  }
}

const commandHint = 'It gets the exact text on stdin, and prints the signature on stdout: see sotra help signing.';

async function outcomeOf(
  child: ChildProcessByStdio<Writable, Readable, null>,
  message: string,
): Promise<{ code: number | null; out: string }> {
  let out = '';
  child.stdout.setEncoding('utf8');
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', ({ message: why }) =>
      reject(keyError(`--signer-command cannot be started: ${why}`, commandHint)),
    );
    child.once('close', resolve);
    child.stdout.on('data', (text: string) => {
      out += text;
      if (out.length > maxSignatureChars)
        reject(keyError('--signer-command printed more than a signature', commandHint));
    });
    // A command that reads nothing closes the pipe.
    child.stdin.on('error', () => undefined);
    child.stdin.end(message);
  });
  return { code, out: out.trim() };
}
