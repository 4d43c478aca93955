/**
 * Rules of `docs/spec` and rows of its checklist that no check of the conformance suite can ask, because a client of a foreign
 * server cannot see them: with the reason, group by group. Their own tests cite them; `coverage.test.ts` holds that every other
 * rule and row has a check, and that nothing here has one. Why they are sorted this way: docs/decisions/clients.md.
 */
export interface Group {
  readonly why: string;
  /** Ids and ranges, as `EL2–EL4`. */
  readonly ids: string;
}

export const NOT_ON_THE_WIRE: readonly Group[] = [
  {
    why: 'They are about pods and the objects of a cluster, which its API shows and no server of ours: what a client sees of such a sandbox is asked by the rules of all.',
    ids: 'SB1000–SB1020',
  },
  {
    why: 'Which of several servers over one database, and which hosts, have a sandbox: a client speaks to one address and sees one server.',
    ids: 'RT900–RT905, SB1050–SB1054, SB1060–SB1065',
  },
  {
    why: 'Hooks, tools and plugins are files in the home of the server’s user, and programs on its machine: no client can put them there.',
    ids: 'EX900–EX914, EX920–EX930',
  },
  {
    why: 'They are about our client and its page: the suite is itself a client, and what it asks is the server.',
    ids: 'CL2–CL9, CL20–CL34, F4, CL50–CL54, CL450, CL595, CL615, CL720, CL721, CL760–CL762, CL820, CL915–CL917, CL920, CL921, CL925–CL927, CL930, CL935–CL937, CL940–CL949, CK960–CK968, CL1100–CL1103',
  },
  {
    why: 'What a person does in the panels of our page: the suite has no page, and asks the routes behind them by their own rules.',
    ids: 'CL970–CL977, CL1240–CL1242, CL1200, CL1300, CL1301, CL1303, CL1304',
  },
  {
    why: 'A person’s terminal in our sandbox and their hold of the agent’s, which other servers our page may ask, and where delegated agents work: no client of any generation asks for them, and no document describes them.',
    ids: 'SV972, SV973, SV991, SV992, SV1080, SV1081, RT840–RT843, EN1030–EN1033',
  },
  {
    why: 'When an answer is heard, and not before: a client cannot place a second decision between the two looks of a server. SV960 asks what it can see.',
    ids: 'SV1000, SV1020–SV1025, SV1030, SV1094',
  },
  {
    why: 'What needs a person, the settings and the moments of a conversation, as the page shows them.',
    ids: 'CL983–CL994, SV1004, CL1150–CL1155, CL1270, CL1160, CL1161, CL1165, CL1170–CL1172, CL1210, CL1310–CL1313, CL1350–CL1353',
  },
  {
    why: 'What the command line prints and which server it uses, on the machine of the user: no server shows it.',
    ids: 'CL960–CL964, CL966–CL969, CL1050–CL1052, CL1302, CK1000–CK1011, CK1020, CK1021, CK1040–CK1045, CK1100, CK1101',
  },
  {
    why: 'How our client and its page hold, load and draw a conversation of any length, and what the browser stores of the app.',
    ids: 'CL1001–CL1006, CL1130–CL1132, CL1140, CL1190–CL1192, CL1220, CL1221, CL1330–CL1332, CL1334–CL1347',
  },
  {
    why: 'How the log is written: commits, syncs, files, damage and what a crash leaves. From outside there is only what is read.',
    ids: 'EN1060–EN1074, EN1080–EN1087, EN1100, EN1101, SV1100–SV1105, EL2–EL4, EL6, EL7, EL10–EL25, EL30, EL31, SV199–SV201, EL55, EL56, SV215, EL45–EL47, SV203, SV204, SV1003',
  },
  {
    why: 'What a server says and does when it leaves or loses its database: a client of a foreign server can bring about neither.',
    ids: 'SV1250–SV1258, SV1260–SV1268',
  },
  {
    why: 'The server is killed, restarted or cut off from its sandbox or its disk at a chosen moment: a client that only has its address cannot.',
    ids: 'AS3, EN8, EN9, EN19, EN21, EN27, EN92–EN94, EN99–EN102, EN111, EN112, SB14, SB15, SB23, SB24, SB26, SB27, SB166–SB168, SV18, SV122, SV191, SV192, SV202, EN229, EN183, EN165–EN169, EN400, EN401, EN940–EN943, EN950–EN956, EN919, SV400',
  },
  {
    why: 'Properties over all logs, calls or interleavings, or of the shape of the code: held by generated cases beside it, of which a conversation shows one.',
    ids: 'AS550, DL28, DL50, DL52, DL53, EN550, EN30, EN33, EN43, EN55, EN71–EN73, EN80, EN110, EN205, EN745, EN765, EN852, EN862, EN863, LM7, SB81, SV170, SV745',
  },
  {
    why: 'What the server holds in memory and reads from its disk for a long log: a client sees the same with and without it.',
    ids: 'EL50, EL51, EN197–EN202, EN980, EN981',
  },
  {
    why: 'An event or a model that no client can bring about: a kind nobody knows, a provider that cannot be made, a window that fills.',
    ids: 'DL9, EN87, EN133, EN206, EN207, EN965, EN850, EN856',
  },
  {
    why: 'The suite’s endpoint is one OpenAI-compatible model with a key and without a price list of its own; these are about other protocols, missing keys, huge answers, answers that halt in the middle and long silences.',
    ids: 'LM5, LM16, LM24, LM38, LM41, LM42, LM44, LM45, LM51, LM120, LM711, LM712, LM720–LM730, LM745, LM732, LM800–LM807, LM809, LM733, LM940–LM943, SV940',
  },
  {
    why: 'The stand-ins that Tendon brings for a model are chosen by the operator.',
    ids: 'LM60–LM62, LM70–LM74',
  },
  {
    why: 'Which agents and optional tools there are, and whether a workspace can be mounted read-only, is our server’s: another has others.',
    ids: 'EN820–EN824, EN982, EN915–EN918, EN920–EN926, CL965, RT821, RT822, SV990',
  },
  {
    why: 'Between the server and the program in the sandbox, which no client reaches: its keys, journal, processes, sockets and lease.',
    ids: 'RT1–RT6, RT235, RT36, RT41–RT44, RT68, RT490, RT763, RT80, RT100, RT118, RT192, RT221, RT650, RT651, RT721–RT723, SB3–SB7, SB10, SB30–SB32, SB84, SB165, SB112–SB114, D3, D4, RT400, RT830',
  },
  {
    why: 'How kernels, browsers and language servers come to a machine that has none, and go when nobody uses them: it takes another machine, or minutes.',
    ids: 'EN909, RT119–RT122, RT155–RT157, RT173, RT831–RT833',
  },
  {
    why: 'What a sandbox encloses is asked from inside, with a host beside it to look at: test/isolation and docs/spec/threats.md.',
    ids: 'RT158, SB11–SB13, SB18, SB21, SB22, SB28, SB90, SB91, SB650, SB651, SB98, SB120–SB129, SB492, SB350, SB351, SB340, SB355–SB357, SB450, SB510–SB514, SB800, SB801, SB900, SB901, SB410–SB412, RT820',
  },
  {
    why: 'What a checkpoint holds to the last byte, its bounds, kills and clocks are looked at from beside the workspace; over the wire there is an action and its observation.',
    ids: 'CK700–CK708, CK710–CK715, CK720–CK725, CK801, CK803, CK805, CK810, CK811, CK820, CK950, CK951, SV950–SV955, CL950–CL954, SV1001, SV1002, EN966, CL931, CL830–CL832',
  },
  {
    why: 'It changes what every sandbox of the server may reach, or needs a person who answers: asked of servers of the tests’ own.',
    ids: 'SV450, SV452, SV454, SV455',
  },
  {
    why: 'The life of sandboxes on the machine: starting, hibernating, ending, what is left, and the commands that show it.',
    ids: 'SV1120–SV1125, SV1130–SV1133, SV1200–SV1206, SV1210–SV1212, SV1220–SV1222, SV1230–SV1234, SV1240, EN6, EN140–EN142, SB1, SB600, SB601, SB620, SB2, SB16, SB25, SB29, SB92–SB97, SB130–SB138, SB161, SB162, SB173–SB176, SV116–SV118, SV590, SV120, SV121, SV184–SV186, SV196, SB300, SB301, SB490, SB470–SB477, SB565–SB567, SB730–SB732, SB341–SB343, SB720, SB530–SB533',
  },
  {
    why: 'Users, organisations and their identity provider: the suite has one key and no second person.',
    ids: 'SV1300–SV1304, SV1310–SV1317, SV1390–SV1392',
  },
  {
    why: 'Who did what, what each person may use and how long things are stored: the operator decides it, and a chain of several servers, kills and tampering are made from beside the server.',
    ids: 'SV1350–SV1359, SV1370–SV1378, SV1380–SV1388, CK1120–CK1122',
  },
  {
    why: 'One driver’s own: containers, another host, `tendon executor`. A client cannot see which one is behind the server.',
    ids: 'RT200–RT213, SB40–SB47, SB49, SB491, SB56, SB57, SB60–SB65, SB150–SB157, SB724, SB725, SB160, SB229, SV97, D1, D2, D6',
  },
  {
    why: 'What only a file system that refuses, or an image that names a locale it does not have, brings about.',
    ids: 'RT231, RT232',
  },
  {
    why: 'The original does otherwise, and clients get on with either: it starts a stopped conversation with every connection, also of a client that only comes back.',
    ids: 'EN173, SV183',
  },
  {
    why: 'Repositories, git hosts and their tokens: without an account there is nothing to ask but the refusals, which have checks.',
    ids: 'SB75, SB76, SB78, SV155, SV53–SV55, SV57, SV58, SV100–SV106, SV164, SV166',
  },
  {
    why: 'The operator’s configuration and what is made of it at the start: environment, config file, ports, plugins, own microagents, limits of addresses that this machine is free of.',
    ids: 'A7, A9, D5, D9, EN124, EN125, EN128, EN215, RT171, RT180, RT181, RT222, RT223, S7, SV1, SV600, SV1070, SV1071, SV1072, SV2, SV6, SV36, SV50, SV68, SV158, SV110–SV115, SV223, SV239–SV242, SV993, LM95–LM98, LM714, LM731, LM808, SV235, SV300–SV302, SV340, SV490–SV494, SV576, SV760, SV900, EN762, EN764',
  },
  {
    why: 'What is made of the workspace’s own texts, and what is looked up in its sandbox: which files count, in which order and how much. A client is sent the result, whatever it is.',
    ids: 'EN800–EN806',
  },
  {
    why: 'MCP servers that break, hang, or run in the sandbox, and those of the settings, which are everybody’s.',
    ids: 'EN150, EN151, EN807–EN809, EN900–EN908, EN990, SV137–SV139, SV167, SV168',
  },
  {
    why: 'Attacks: it would be wrong to play them on a server that the suite is merely pointed at, and they take minutes or hundreds of connections.',
    ids: 'SV134, SV135, SV195, EN310, EN311, SV310–SV315, SV901, SV510, SV650, SV350, SV351',
  },
  {
    why: 'Command lines on the machine: import, backup, restore, doctor, replay, eval, and the archives they read.',
    ids: 'SV130, SV132, SV133, TJ1–TJ19, TJ22, SV307–SV309, EV900–EV912, EV920–EV922, EV930–EV933, TR900, TG930, TG931',
  },
  {
    why: 'How much of the kernel a sandbox reaches and what it learns from that: asked from inside, call by call.',
    ids: 'SB430–SB432, SB540, SB802, TR918',
  },
  {
    why: 'What rules say of an action: a table and properties of pure functions, with bash itself as the judge, and the policy in whole conversations of the engine.',
    ids: 'TR700–TR713, TR716, TR717, TR719, TR910, TR912–TR917, TR950–TR953, EN1051, EN1052, SV1091–SV1093',
  },
  {
    why: 'What starts conversations by itself is our server’s: it takes a git provider that calls it, a clock that is set, a kill, and hundreds of refused requests.',
    ids: 'TG901–TG911, TG920–TG923',
  },
  {
    why: 'What a push service and a device are sent: the suite is neither, and a server sends only to public addresses.',
    ids: 'SV1400–SV1407',
  },
  {
    why: 'About the repository and this suite, not about a server.',
    ids: 'A2, A3, D10–D12, DL94–DL98, DL600, DL640',
  },
];
