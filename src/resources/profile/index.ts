import { chartParam, deriveCommands, endpointCommand } from '../../cli/endpoint-command.ts';
import { inputError } from '../../errors.ts';
import * as endpoints from './endpoints.ts';

const loadProfileViews = () => import('./view.ts');

export const views = {
  get: async () => (await loadProfileViews()).get,
  followers: async () => (await loadProfileViews()).followers,
  follows: async () => (await loadProfileViews()).follows,
  setName: async () => (await loadProfileViews()).named,
  deleteName: async () => (await loadProfileViews()).named,
};

const get = endpointCommand(endpoints.get, views.get, { params: { chart: chartParam } });

const setName = endpointCommand(endpoints.setName, views.setName, {
  prepare: (typed) => {
    const { name, avatarUrl } = typed;
    if (name === undefined && avatarUrl === undefined)
      throw inputError((input) => ({
        message: `nothing to change: neither ${input('name')} nor ${input('avatarUrl')} is given`,
        hint: `Give a value, or null to remove: ${input('name')} moon_cat, ${input('avatarUrl')} null.`,
      }));
    if (name === null && typeof avatarUrl === 'string')
      throw inputError((input) => ({
        message: `${input('avatarUrl')} ${avatarUrl}: an avatar needs a name, and ${input('name')} null removes it`,
        hint: `Omit ${input('avatarUrl')}, or give a name.`,
      }));
    return typed;
  },
});

const deleteName = endpointCommand(endpoints.deleteName, views.deleteName, {
  confirms: ({ identifier }) => `remove the name and avatar of ${identifier} at your partner`,
});

export const commands = deriveCommands(endpoints, views, [get, setName, deleteName]);
