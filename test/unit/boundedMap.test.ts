import { BoundedMap } from '../../nodes/MediaGeneration/base/boundedMap';

test('it forgets what was not used for the longest time, and setting a key again makes it no larger', () => {
	const map = new BoundedMap<string, number>(2);
	for (const [key, value] of [
		['a', 1],
		['b', 2],
		['b', 3],
	] as const)
		map.set(key, value);
	expect(map.get('a')).toBe(1);
	map.set('c', 3);
	expect([...map.keys()]).toEqual(['a', 'c']);
});
