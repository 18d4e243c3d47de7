import { BoundedMap, ensured } from '../../nodes/MediaGeneration/base/boundedMap';

test('it forgets what was not used for the longest time', () => {
	const map = new BoundedMap<string, number>(2);
	map.set('a', 1);
	map.set('b', 2);
	expect(map.get('a')).toBe(1);
	map.set('c', 3);
	expect([map.has('a'), map.has('b'), map.has('c')]).toEqual([true, false, true]);
});

test('setting a key again makes it no larger', () => {
	const map = new BoundedMap<string, number>(2);
	map.set('a', 1);
	map.set('a', 2);
	map.set('b', 3);
	expect([map.get('a'), map.get('b')]).toEqual([2, 3]);
});

test('a value is made once', () => {
	const map = new BoundedMap<string, object>(2);
	const made = ensured(map, 'a', () => ({}));
	expect(ensured(map, 'a', () => ({}))).toBe(made);
});
