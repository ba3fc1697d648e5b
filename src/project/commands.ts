import { type Command, defineCommand } from '../cli/command.ts';
import { serviceExitCodes } from '../cli/endpoint-command.ts';
import { option } from '../cli/params.ts';

const apply = () => import('./apply.ts');

const file = option.text('the project file (default: sotra.yaml in this folder, or the nearest above it)');

const fileHelp =
  'The smallest file:\n  webhooks: [{ destination: https://example.com/hook, addresses: wallets.txt }]\n' +
  'A webhook has destination, addresses (files, or addresses themselves), column, secretFile and routes; a follow has follower and\n' +
  `targets; context names the service. Paths are from the folder of the file, \${NAME} is a variable. The file holds no secret, and you\n` +
  'are asked once whether to trust it, and again when it changes; --yes trusts it without a question.';

const plan = defineCommand({
  words: ['plan'],
  summary: 'Show what a project file and the service differ in',
  description:
    `${fileHelp}\nThe service does not list the addresses of a webhook, so this compares with what this machine has confirmed. What it has no\n` +
    'operation for, such as removing an address, is left to you.',
  params: { file, check: option.flag('exit 10 where they differ, for CI') },
  examples: [
    { argv: 'plan', says: 'by the sotra.yaml of this project' },
    { argv: 'plan --check --json --yes', says: 'in CI: trust the file of this checkout, and fail where they differ' },
  ],
  uses: ['requests'],
  exitCodes: [3, 10, ...serviceExitCodes],
  view: async () => (await apply()).planned,
  run: async (input, context) => (await apply()).showPlan(input, context),
});

const applyCommand = defineCommand({
  words: ['apply'],
  summary: 'Make the service what a project file says',
  description:
    `${fileHelp}\nMakes what sotra plan shows, after a question: webhooks, then follows, for which an undo file is written. What is confirmed\n` +
    'stays so: after a failure or a crash the same command continues.',
  params: { file },
  examples: [
    { argv: 'apply', says: 'after a question' },
    { argv: 'apply --yes', says: 'without one' },
  ],
  uses: ['requests', 'changes'],
  exitCodes: [3, 10, ...serviceExitCodes],
  view: async () => (await apply()).appliedView,
  run: async (input, context) => (await apply()).applyPlan(input, context),
});

export const commands: readonly Command[] = [plan, applyCommand];
