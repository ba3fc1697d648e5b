import * as comment from '../../api/comment.ts';
import * as position from '../../api/position.ts';
import type { Command } from '../command.ts';
import { ofToken as commentsView } from '../comment/view.ts';
import { addEndpointCommand } from '../endpoint-command.ts';
import { chooseView, priceParams, tokenPositions } from '../position/index.ts';

export function setUp(token: Command): void {
  addEndpointCommand(token, 'positions', position.ofToken, {
    view: tokenPositions(),
    params: priceParams,
    chooseView: chooseView(tokenPositions),
  }).shares('showNsfw');
  addEndpointCommand(token, 'comments', comment.ofToken, { view: commentsView }).shares('showNsfw');
}
