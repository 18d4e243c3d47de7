import type { IDataObject } from 'n8n-workflow';
import { claim, release } from '../../nodes/MediaGeneration/callback/seen';

let number = 0;
const trigger = () => `workflow:node-${(number += 1)}`;

test('an event is let through once', () => {
	const name = trigger();
	const data: IDataObject = {};
	expect(claim(name, 't1:done', data)).toBe(true);
	expect(claim(name, 't1:done', data)).toBe(false);
	expect(claim(name, 't1:error', data)).toBe(true);
	expect(claim(name, 't2:done', data)).toBe(true);
});

test('each trigger has its own memory', () => {
	expect(claim(trigger(), 't1:done', {})).toBe(true);
	expect(claim(trigger(), 't1:done', {})).toBe(true);
});

test('two calls at the same moment, each with static data of its own: one gets it', () => {
	const name = trigger();
	expect([claim(name, 't1:done', {}), claim(name, 't1:done', {})]).toEqual([true, false]);
});

test('another process knows it from the saved static data', () => {
	const data: IDataObject = {};
	claim(trigger(), 't1:done', data);
	const saved = JSON.parse(JSON.stringify(data)) as IDataObject;
	expect(claim(trigger(), 't1:done', saved)).toBe(false);
});

test('what was given back can be claimed again', () => {
	const name = trigger();
	const data: IDataObject = {};
	claim(name, 't1:done', data);
	release(name, 't1:done', data);
	expect(claim(name, 't1:done', data)).toBe(true);
	release(name, 'never claimed', {});
});

test('memory is bounded, and keeps the newest', () => {
	const name = trigger();
	const data: IDataObject = {};
	for (let index = 0; index < 1_500; index += 1) claim(name, `t${index}:done`, data);
	expect(data.seen).toHaveLength(1_000);
	expect(claim(name, 't1499:done', data)).toBe(false);
	expect(claim(name, 't0:done', data)).toBe(true);
});

test('static data that holds something else is no obstacle', () => {
	expect(claim(trigger(), 't1:done', { seen: 'nonsense' })).toBe(true);
});
