import type { Endpoint } from './api/endpoint.ts';
import type { Command } from './cli/command.ts';
import { endpointCommand } from './cli/endpoint-command.ts';
import { referenceCommands } from './commands/reference.ts';
import { sandboxCommands } from './commands/sandbox.ts';
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
  ...sandboxCommands,
  ...referenceCommands(() => commands),
];
