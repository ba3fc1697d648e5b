import { checkRequest } from '../auth/status.ts';
import type { Command } from '../command.ts';
import { type Check, diagnosisView } from './view.ts';

export function addDoctor(doctor: Command): void {
  doctor
    .description('Sends one small request. Exits with the code of the first problem: 3 settings, 4 key, 9 network.')
    .example('--sandbox doctor', 'without a service')
    .example('--sandbox doctor --json', 'as JSON')
    .shares('dryRun', 'curl', 'timeout')
    .prints(diagnosisView)
    .run(async (_, context) => {
      if (context.options.preview) return { kind: 'request', request: await context.previewRequest(checkRequest) };
      const { diagnose } = await import('./checks.ts');
      const answer = await diagnose(context);
      return { kind: 'answer', answer, view: diagnosisView, exitCode: chooseExitCode(answer.checks) };
    });
}

function chooseExitCode(checks: readonly Check[]): number {
  const problem = checks.find(({ state }) => state === 'problem')?.check;
  if (problem === undefined) return 0;
  if (problem === 'key') return 4;
  return problem === 'reach' || problem === 'tls' ? 9 : 3;
}
