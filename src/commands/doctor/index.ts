import { column, recordView } from '../../lib/output/columns.ts';
import type { Command } from '../command.ts';
import type { Check, Diagnosis } from './checks.ts';

export function setUp(doctor: Command): void {
  doctor
    .description('Sends one small request. Exits with the code of the first problem: 3 settings, 4 key, 9 network.')
    .example('--sandbox doctor', 'without a service')
    .example('--sandbox doctor --json', 'as JSON')
    .shares('dryRun', 'curl', 'timeout')
    .prints(diagnosisView)
    .run(async (_, context) => (await import('./checks.ts')).runDoctor(context));
}

const labels = {
  node: ['Node', 'version of Node'],
  settings: ['Settings', 'settings file and its mode'],
  service: ['Service', 'which service is used, and where that is set'],
  key: ['Key', 'where the API key comes from, and whether it is accepted'],
  reach: ['Reach', 'whether the service answers'],
  tls: ['TLS', 'whether the connection is encrypted'],
  clock: ['Clock', "local clock compared with the service's"],
  sandbox: ['Sandbox', 'file of the built-in sandbox'],
} as const satisfies Readonly<Record<Check['check'], readonly [header: string, help: string]>>;

const leads = { ok: 'ok', warning: 'WARNING', problem: 'PROBLEM', skipped: 'not checked' } as const;
const tones = { ok: 'plain', warning: 'strong', problem: 'loss', skipped: 'muted' } as const;

const diagnosisView = recordView<Diagnosis>(
  Object.entries(labels).map(([name, [header, help]]) => {
    const checkIn = ({ checks }: Diagnosis) => checks.find(({ check }) => check === name) as Check;
    const text = (diagnosis: Diagnosis) => {
      const { state, found, fix } = checkIn(diagnosis);
      return `${leads[state]}: ${found}${fix === null ? '' : `. Fix: ${fix}`}`;
    };
    const show = (diagnosis: Diagnosis) => ({ text: text(diagnosis), tone: tones[checkIn(diagnosis).state] });
    return column.text(name, header, help, text, { cut: true, show });
  }),
);
