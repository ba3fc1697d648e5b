import { chartParam, commandsOf, endpointCommand } from '../../cli/endpoint-command.ts';
import { withWatch } from '../../cli/params.ts';
import { usageError } from '../../errors.ts';
import * as endpoints from './endpoints.ts';

const view = () => import('./view.ts');

export const views = {
  get: async () => (await view()).get,
  followers: async () => (await view()).followers,
  follows: async () => (await view()).follows,
  setName: async () => (await view()).named,
  deleteName: async () => (await view()).named,
};

const get = withWatch(endpointCommand(endpoints.get, views.get, { params: { chart: chartParam } }), {});

const setName = endpointCommand(endpoints.setName, views.setName, {
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
        'Omit --avatar-url, or give a name.',
      );
    return typed;
  },
});

const deleteName = endpointCommand(endpoints.deleteName, views.deleteName, {
  confirms: ({ identifier }) => `remove the name and avatar of ${identifier} at your partner`,
});

export const commands = commandsOf(endpoints, views, [get, setName, deleteName]);
