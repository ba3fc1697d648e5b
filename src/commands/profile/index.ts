import { optional } from '../../api/kind.ts';
import * as endpoints from '../../api/profile.ts';
import { option } from '../../cli/command.ts';
import { chartParam, deriveCommands, endpointCommand } from '../../cli/endpoint-command.ts';
import { inputError, type NameInput } from '../../errors.ts';

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
  params: {
    name: { ...endpoints.setName.params.name, kind: optional(endpoints.nameKind), help: 'new name' },
    avatarUrl: {
      ...endpoints.setName.params.avatarUrl,
      kind: optional(endpoints.avatarKind),
      help: 'address of the avatar',
    },
    clear: option.flag('remove name and avatar'),
    clearAvatar: option.flag('remove the avatar alone'),
  },
  description:
    'Omitted values stay unchanged. --clear removes name and avatar, --clear-avatar the avatar alone.\n' +
    "The answer carries the name with your partner's suffix. An avatar needs a name: jpeg or png, at least 120x120, at most 5 MB.",
  prepare: ({ clear, clearAvatar, ...typed }) => {
    const { name, avatarUrl } = typed;
    const refuse = (say: (input: NameInput) => string) => inputError((input) => ({ message: say(input) }));
    if (name === undefined && avatarUrl === undefined && !clear && !clearAvatar)
      throw inputError((input) => ({
        message: `nothing to change: neither ${input('name')} nor ${input('avatarUrl')} is given`,
        hint: `Give a value, or remove one: ${input('clear')} or ${input('clearAvatar')}.`,
      }));
    if (clear && name !== undefined)
      throw refuse((input) => `${input('name')} and ${input('clear')} contradict each other`);
    if (clearAvatar && avatarUrl !== undefined)
      throw refuse((input) => `${input('avatarUrl')} and ${input('clearAvatar')} contradict each other`);
    if (clear && avatarUrl !== undefined)
      throw refuse(
        (input) => `${input('avatarUrl')} ${avatarUrl}: an avatar needs a name, and ${input('clear')} removes it`,
      );
    return { ...typed, ...(clear && { name: null }), ...(clearAvatar && { avatarUrl: null }) };
  },
});

const deleteName = endpointCommand(endpoints.deleteName, views.deleteName, {
  confirms: ({ identifier }) => `remove the name and avatar of ${identifier} at your partner`,
});

export const commands = deriveCommands(endpoints, views, [get, setName, deleteName]);
