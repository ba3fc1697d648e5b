import { chartParam, endpointCommand } from '../../cli/endpoint-command.ts';
import { usageError } from '../../errors.ts';
import { deleteName as deleteNameEndpoint, get as getEndpoint, setName as setNameEndpoint } from './endpoints.ts';

/** `profile get`: also as a picture. */
export const get = endpointCommand(getEndpoint, async () => (await import('./view.ts')).get, {
  params: { chart: chartParam },
});

/** `profile set-name`: refuses before sending what can only fail: nothing to change, an avatar while the name goes. */
export const setName = endpointCommand(setNameEndpoint, async () => (await import('./view.ts')).named, {
  prepare: (typed) => {
    const { name, avatarUrl } = typed;
    if (name === undefined && avatarUrl === undefined)
      throw usageError(
        'nothing to change: neither --name nor --avatar-url is given',
        'Give a value, or null to remove: --name moon_cat, --avatar-url null.',
      );
    if (name === null && typeof avatarUrl === 'string')
      throw usageError(
        `--avatar-url ${avatarUrl}: an avatar needs a name, and --name null removes it`,
        'Leave --avatar-url out, or give a name.',
      );
    return typed;
  },
});

/** `profile delete-name`: asks first. */
export const deleteName = endpointCommand(deleteNameEndpoint, async () => (await import('./view.ts')).named, {
  confirms: ({ identifier }) => `remove the name and avatar of ${identifier} at your partner`,
});
