import { type Command, defineCommand } from '../cli/command.ts';
import type { Shown, View } from '../output/view.ts';
import { checkPath } from './auth-status.ts';

/** One thing that was looked at. */
export interface Check {
  check: CheckName;
  state: 'ok' | 'warning' | 'problem' | 'skipped';
  found: string;
  /** The way out; `null` where nothing is wrong. */
  fix: string | null;
}

/** What doctor looks at, in its order. */
type CheckName = 'node' | 'settings' | 'service' | 'key' | 'reach' | 'tls' | 'clock' | 'terminal' | 'sandbox';

/** What `doctor --json` shows. */
interface Diagnosis {
  ok: boolean;
  checks: Check[];
}

const names: readonly (readonly [CheckName, string, string])[] = [
  ['node', 'Node', 'version of Node'],
  ['settings', 'Settings', 'the settings file and its mode'],
  ['service', 'Service', 'which service is used and why'],
  ['key', 'Key', 'where the API key comes from and whether it is taken'],
  ['reach', 'Reach', 'whether the service answers'],
  ['tls', 'TLS', 'whether the connection is private'],
  ['clock', 'Clock', "this machine's clock against the service's"],
  ['terminal', 'Terminal', 'what the terminal can show'],
  ['sandbox', 'Sandbox', 'the built-in sandbox'],
];

const tones = { ok: 'plain', warning: 'strong', problem: 'loss', skipped: 'muted' } as const;

function cell({ checks }: Diagnosis, name: CheckName): Check | undefined {
  return checks.find(({ check }) => check === name);
}

function text({ state, found, fix }: Check): string {
  const lead = state === 'ok' ? 'ok' : state === 'skipped' ? 'not checked' : state.toUpperCase();
  return `${lead}: ${found}${fix === null ? '' : `. Way out: ${fix}`}`;
}

/** Every check as one line. */
const view: View<Diagnosis, Diagnosis> = {
  layout: 'record',
  rows: (diagnosis) => [diagnosis],
  columns: names.map(([key, header, help]) => ({
    key,
    header,
    help,
    cut: 'end',
    value: (diagnosis) => {
      const check = cell(diagnosis, key);
      return check === undefined ? null : text(check);
    },
    show: (diagnosis): Shown => {
      const check = cell(diagnosis, key);
      return check === undefined ? { text: '' } : { text: text(check), tone: tones[check.state] };
    },
  })),
};

/** `doctor`: looks at everything a command needs and says what to do about what is wrong. */
const doctorCommand: Command = defineCommand({
  words: ['doctor'],
  summary: 'Look at everything a command needs, and say what to do about what is wrong',
  description:
    'Asks the service for one place of the leaderboard, nothing else; changes nothing. Ends with the exit code of the first problem:\n' +
    '3 settings, 4 key, 9 network.',
  params: {},
  examples: [
    { argv: '--sandbox doctor', says: 'without a service' },
    { argv: '--sandbox doctor --json', says: 'as JSON' },
  ],
  uses: ['requests'],
  exitCodes: [3, 4, 9],
  view: async () => view,
  run: async (_, context) => {
    if (context.options.preview) await context.request({ method: 'GET', path: checkPath });
    const { examine } = await import('./doctor-checks.ts');
    const checks = await examine(context);
    const problem = checks.find(({ state }) => state === 'problem');
    const answer: Diagnosis = { ok: problem === undefined, checks };
    return { kind: 'answer', answer, view, exitCode: problem === undefined ? 0 : (exitCodes[problem.check] ?? 3) };
  },
});

const exitCodes: Partial<Record<CheckName, number>> = { key: 4, reach: 9, tls: 9 };

/** The command, as the program takes it. */
export const commands: readonly Command[] = [doctorCommand];
