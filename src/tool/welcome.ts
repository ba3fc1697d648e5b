import { formatParts } from '../cli/help.ts';
import { readMessage, SotraError } from '../errors.ts';
import { describeKey, resolveService } from '../setup/settings.ts';
import { configDirectory, openSettings } from '../setup/store.ts';
import type { World } from '../world.ts';

/** What `sotra` alone shows on a terminal: what it is, what to type first, and what is configured. */
export function formatWelcome(world: World): string {
  return formatParts(
    [
      ['', `sotra ${world.version}: leaderboards, positions, signed comments, feeds and webhooks of social trading.`],
      [
        '',
        [
          ['sotra tour', 'a trade, a comment and a webhook in two minutes'],
          ['sotra init', 'choose sandbox or service, and store its key'],
          ['sotra leaderboard list', 'the best traders; offline with --sandbox'],
          ['sotra --help', 'commands and flags'],
        ],
      ],
      ['', `Configured: ${describeService(world)}`],
    ],
    world.io.out.width,
  );
}

function describeService(world: World): string {
  try {
    const stored = openSettings(configDirectory(world)).read();
    const service = resolveService({ context: undefined, sandbox: false, baseUrl: undefined }, world.env, stored);
    if (service.kind === 'sandbox') return 'the built-in sandbox.';
    const key = describeKey(service);
    return `${service.baseUrl}, ${key === undefined ? 'no key' : `key ${key}`}.`;
  } catch (error) {
    if (error instanceof SotraError && error.code === 'no-service') return 'no service yet; --sandbox needs none.';
    return `${readMessage(error)} (see sotra doctor).`;
  }
}
