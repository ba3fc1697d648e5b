import { optional } from '../../api/kind.ts';
import { ofProfile } from '../../api/position.ts';
import * as endpoints from '../../api/profile.ts';
import { avatarKind, nameKind, setName } from '../../api/profile.ts';
import type { Command } from '../command.ts';
import { addEndpointCommand, chartParam } from '../endpoint-command.ts';
import { option } from '../params.ts';
import { chooseView, priceParams } from '../position/prices.ts';
import * as position from '../position/view.ts';
import { followers, follows, get, named } from './view.ts';

export function addProfile(profile: Command): void {
  addEndpointCommand(profile, 'get', endpoints.get, { view: get, params: { chart: chartParam } }).shares('showNsfw');
  addEndpointCommand(profile, 'positions', ofProfile, {
    view: position.ofProfile(),
    params: { ...priceParams, chart: chartParam },
    chooseView: chooseView(position.ofProfile),
  }).shares('showNsfw');
  addEndpointCommand(profile, 'followers', endpoints.followers, { view: followers }).shares('showNsfw');
  addEndpointCommand(profile, 'follows', endpoints.follows, { view: follows }).shares('showNsfw');
  addSetName(profile);
  addEndpointCommand(profile, 'delete-name', endpoints.deleteName, {
    view: named,
    description: 'Asks for confirmation on a terminal; elsewhere it needs --yes.',
    confirms: ({ identifier }) => `remove the name and avatar of ${identifier} at your partner`,
  }).shares('showNsfw');
}

function addSetName(profile: Command): void {
  addEndpointCommand(profile, 'set-name', setName, {
    view: named,
    params: {
      name: { ...setName.params.name, kind: optional(nameKind), help: 'new name' },
      avatarUrl: { ...setName.params.avatarUrl, kind: optional(avatarKind), help: 'URL of the new avatar' },
      clear: option.flag('remove name and avatar', { conflicts: ['name', 'avatarUrl'] }),
      clearAvatar: option.flag('remove only the avatar', { conflicts: ['avatarUrl'] }),
    },
    description:
      "Omitted values stay unchanged. The answer has the name with your partner's suffix.\n" +
      'An avatar needs a name. It is a JPEG or PNG of at least 120x120 pixels and at most 5 MB.\n' +
      'Removing a name or avatar asks on a terminal; elsewhere it needs --yes.',
    requireAnyOf: [['name', 'avatarUrl', 'clear', 'clearAvatar']],
    confirms: (typed) => {
      if (!typed.clear && !typed.clearAvatar) return undefined;
      return `remove the ${typed.clear ? 'name and avatar' : 'avatar'} of ${typed.identifier} at your partner`;
    },
    prepare: ({ clear = false, clearAvatar = false, ...typed }) => ({
      ...typed,
      ...(clear && { name: null }),
      ...(clearAvatar && { avatarUrl: null }),
    }),
  }).shares('showNsfw');
}
