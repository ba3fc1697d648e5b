import { column, recordView } from '../../lib/output/columns.ts';

const labels = {
  node: ['Node', 'version of Node'],
  settings: ['Settings', 'settings file and its mode'],
  service: ['Service', 'which service is used, and where that is set'],
  key: ['Key', 'where the API key comes from, and whether it is accepted'],
  reach: ['Reach', 'whether the service answers'],
  tls: ['TLS', 'whether the connection is encrypted'],
  clock: ['Clock', "local clock compared with the service's"],
  sandbox: ['Sandbox', 'file of the built-in sandbox'],
} as const;

export type CheckName = keyof typeof labels;

export const checkNames = Object.keys(labels) as CheckName[];

export interface Finding {
  state: 'ok' | 'warning' | 'problem' | 'skipped';
  found: string;
  fix: string | null;
}

export type Check = { check: CheckName } & Finding;

export interface Diagnosis {
  ok: boolean;
  checks: Check[];
}

const leads = { ok: 'ok', warning: 'WARNING', problem: 'PROBLEM', skipped: 'not checked' } as const;
const tones = { ok: 'plain', warning: 'strong', problem: 'loss', skipped: 'muted' } as const;

export const diagnosisView = recordView<Diagnosis>(
  checkNames.map((name) => {
    const [header, help] = labels[name];
    const checkIn = ({ checks }: Diagnosis) => checks.find(({ check }) => check === name) as Check;
    const text = (diagnosis: Diagnosis) => {
      const { state, found, fix } = checkIn(diagnosis);
      return `${leads[state]}: ${found}${fix === null ? '' : `. Fix: ${fix}`}`;
    };
    const show = (diagnosis: Diagnosis) => ({ text: text(diagnosis), tone: tones[checkIn(diagnosis).state] });
    return column.text(name, header, help, text, { cut: true, show });
  }),
);
