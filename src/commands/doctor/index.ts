import type { Command } from '../command.ts';
import { diagnosisView } from './view.ts';

export function addDoctor(doctor: Command): void {
  doctor
    .description('Sends one small request. Exits with the code of the first problem: 3 settings, 4 key, 9 network.')
    .example('--sandbox doctor', 'without a service')
    .example('--sandbox doctor --json', 'as JSON')
    .shares('dryRun', 'curl', 'timeout')
    .prints(diagnosisView)
    .run(async (_, context) => (await import('./checks.ts')).runDoctor(context));
}
