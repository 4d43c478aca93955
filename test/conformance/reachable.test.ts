import { globSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { testServer } from '../../packages/server/src/server.test-support.ts';
import { ON_NO_PAGE, IN_THE_WEB_APP } from './reachable-routes.ts';

/** What a line of the list stands for, of what is served. */
function meant(line: string, served: readonly string[]): readonly string[] {
  const [methods = '', path = ''] = line.split(' ');
  const below = path.endsWith('/**') ? path.slice(0, -2) : undefined;
  return served.filter((route) => {
    const [method = '', at = ''] = route.split(' ');
    return (methods === '*' || methods.split(',').includes(method)) && (below === undefined ? at === path : at.startsWith(below));
  });
}

it('CL989: each route is reached by a person at a place that is named, or needs none', async () => {
  const server = await testServer({ script: [] });
  const { paths } = (await (await server.get('/openapi.json')).json()) as { paths: Readonly<Record<string, object>> };
  const served = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  const lines = [...IN_THE_WEB_APP, ...ON_NO_PAGE].flatMap(({ routes }) => routes);
  const listed = lines.flatMap((line) => meant(line, served));
  expect(
    served.filter((route) => !listed.includes(route)),
    'name where a person reaches them, in reachable-routes.ts',
  ).toEqual([]);
  expect(listed.filter((route, index) => listed.indexOf(route) !== index)).toEqual([]);
  const asked = ({ length }: { readonly length: number }, line: string) =>
    line.startsWith('*') ? length > 0 : length === line.split(',').length;
  expect(lines.filter((line) => !asked(meant(line, served), line))).toEqual([]);
});

it('CL989: the client of the web app asks what the web app reaches', () => {
  const client = globSync('packages/client/src/rest/*.ts')
    .map((file) => readFileSync(file, 'utf8'))
    .join('\n');
  const own = '/api/conversations/{id}';
  const isAsked = (line: string): boolean => {
    const path = line.split(' ')[1]!;
    const rest = path.startsWith(`${own}/`) ? path.slice(own.length + 1) : path.replace(own, '/api/conversations/');
    const pieces = rest
      .replace('/**', '')
      .split(/\{\w+\}/)
      .map((piece) => piece.replaceAll(/^\/|\/$/g, ''));
    return pieces.every((piece) => client.includes(piece));
  };
  expect(IN_THE_WEB_APP.flatMap(({ routes }) => routes).filter((line) => !isAsked(line))).toEqual([]);
});
