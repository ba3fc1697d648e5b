import { get } from '../../api/position.ts';
import type { Command } from '../command.ts';
import { addEndpointCommand } from '../endpoint-command.ts';
import { addFind } from './find.ts';
import { chooseView, priceParams } from './prices.ts';
import { one } from './view.ts';

export function addPosition(position: Command): void {
  addFind(position);
  addEndpointCommand(position, 'get', get, { view: one(), params: priceParams, chooseView: chooseView(one) }).shares(
    'showNsfw',
  );
}
