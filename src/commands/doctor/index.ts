import { SotraError } from '../../errors.ts';
import { checkRequest } from '../check-request.ts';
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
      if (context.options.preview)
        return { kind: 'request', request: await context.client.previewRequest(checkRequest) };
      const { diagnose } = await import('./checks.ts');
      const answer = await diagnose(context);
      const failure = findProblem(answer.checks);
      return { kind: 'answer', answer, ...(failure !== undefined && { failure, exitCode: failure.exitCode }) };
    });
}

/** The first problem as an error: 3 for settings, 4 for the key, 9 for the network. */
function findProblem(checks: readonly Check[]): SotraError | undefined {
  const problem = checks.find(({ state }) => state === 'problem');
  if (problem === undefined) return undefined;
  const { check, found, fix } = problem;
  const code = check === 'key' ? 'key-refused' : check === 'reach' || check === 'tls' ? 'network' : 'config';
  return new SotraError(code, `${check}: ${found}`, { hint: fix ?? undefined });
}
