import { ofProfile } from '../../api/position.ts';
import * as endpoints from '../../api/profile.ts';
import type { Command } from '../command.ts';
import { addEndpointCommand, chartParam } from '../endpoint-command.ts';
import { chooseView, priceParams } from '../position/prices.ts';
import * as position from '../position/view.ts';
import { addSetName } from './set-name.ts';
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
