import type { Endpoint } from './api/endpoint.ts';
import type { Command } from './cli/command.ts';
import { endpointCommand } from './cli/endpoint-command.ts';
import { aliasCommands } from './commands/alias.ts';
import { authCommands } from './commands/auth.ts';
import { completionCommand } from './commands/completion.ts';
import { contextCommands } from './commands/context.ts';
import { doctorCommand } from './commands/doctor.ts';
import { helpCommand } from './commands/help-topics.ts';
import { keyCommands } from './commands/key.ts';
import { openApiCommand } from './commands/openapi.ts';
import { probeCommand } from './commands/probe.ts';
import { referenceCommands } from './commands/reference.ts';
import { requestCommand } from './commands/request.ts';
import { sandboxCommands } from './commands/sandbox.ts';
import { whoisCommand } from './commands/whois.ts';
import { endpoints, handWritten, views } from './resources/index.ts';

const wordsOf = (command: Command) => command.words.join(' ');
const byHand = new Set(handWritten.map(wordsOf));

/** One command an endpoint, derived unless it is written by hand. */
const derived = endpoints
  .map((endpoint) => endpointCommand(endpoint as Endpoint, views[endpoint.id]))
  .filter((command) => !byHand.has(wordsOf(command)));

const nounOrder = endpoints.map((endpoint) => endpoint.id.split('.')[0]);
const placeOf = ({ words }: Command) => (nounOrder.indexOf(words[0]) + nounOrder.length + 1) % (nounOrder.length + 1);

/** Every command, in the order of help: those of the service by noun, then those about the tool itself. */
export const commands: readonly Command[] = [
  ...[...derived, ...handWritten].sort((a, b) => placeOf(a) - placeOf(b)),
  whoisCommand,
  ...aliasCommands,
  ...authCommands,
  ...contextCommands,
  ...keyCommands,
  doctorCommand,
  completionCommand(() => commands),
  ...sandboxCommands,
  requestCommand,
  probeCommand,
  openApiCommand,
  ...referenceCommands(() => commands),
  helpCommand,
];
