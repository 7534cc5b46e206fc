"""PyTorch baseline: NNGP and DIWP from the equations of the paper, batched over data splits R and posterior
draws S ([R, S, ...]); for speed ratios and for sanity of results. Not part of the product.

python torch_dkp.py --data UCI_FOLDER --dataset boston --model diwp --kernel sqexp --steps 100
"""
import argparse, json, math, os, sys, time
import torch as t

JIT = 1e-6

def load(root, name, split, dt):
    d = f"{root}/{name}"
    rd = lambda f: [list(map(float, l.split())) for l in open(f"{d}/{f}") if l.strip()]
    data = t.tensor(rd("data.txt"), dtype=t.float64)
    fi = [int(x[0]) for x in rd("index_features.txt")]
    ti = int(rd("index_target.txt")[0][0])
    tr = t.tensor([int(x[0]) for x in rd(f"index_train_{split}.txt")])
    te = t.tensor([int(x[0]) for x in rd(f"index_test_{split}.txt")])
    X, y = data[:, fi], data[:, [ti]]
    m, s = X[tr].mean(0), X[tr].std(0)
    s[s == 0] = 1
    ym, ys = y[tr].mean(), y[tr].std()
    X, y = ((X - m) / s).to(dt), ((y - ym) / ys).to(dt)
    return X[tr], y[tr], X[te], y[te], ys.item()

def chol(A):
    L, info = t.linalg.cholesky_ex(A)
    return L

def tri(L, B, trans=False):
    return t.linalg.solve_triangular(L.mT, B, upper=True) if trans else t.linalg.solve_triangular(L, B, upper=False)

def logdet_chol(L):
    return 2 * L.diagonal(dim1=-1, dim2=-2).log().sum(-1)

# kernels on (ii, it, tt)
class SqExp(t.nn.Module):
    def __init__(s, R, **k):
        super().__init__(); s.ll = t.nn.Parameter(t.zeros(R, 1, **k)); s.lh = t.nn.Parameter(t.zeros(R, 1, **k))
    def forward(s, ii, it, tt):
        d = ii.diagonal(dim1=-1, dim2=-2)
        m = (-2 * s.ll).exp()[..., None, None]; h = (2 * s.lh).exp()
        P = ii.shape[-1]
        eye = t.eye(P, dtype=ii.dtype, device=ii.device)
        kii = t.exp(-0.5 * m * (d[..., :, None] + d[..., None, :] - 2 * ii)) + JIT * eye
        kit = t.exp(-0.5 * m * (d[..., :, None] + tt[..., None, :] - 2 * it))
        ktt = t.ones_like(tt) * (1 + JIT)
        return h[..., None, None] * kii, h[..., None, None] * kit, h[..., None] * ktt

class Relu(t.nn.Module):
    def __init__(s, R, **k): super().__init__()
    def comp(s, xy, xx, yy):
        q = (xx[..., :, None] + JIT) * (yy[..., None, :] + JIT)
        c = (xy * q.rsqrt()).clamp(-1 + 1e-12, 1 - 1e-12)
        sn = (q - xy ** 2).clamp(min=1e-24).sqrt()
        return (sn + (math.pi - t.acos(c)) * xy) / math.pi
    def forward(s, ii, it, tt):
        d = ii.diagonal(dim1=-1, dim2=-2)
        k = s.comp(ii, d, d)
        mask = t.eye(ii.shape[-1], dtype=t.bool, device=ii.device)
        kii = t.where(mask, (d + JIT)[..., :, None].expand_as(k), k)
        return kii, s.comp(it, d, tt), tt + JIT

def mvlgamma(a, p):
    return p * (p - 1) / 4 * math.log(math.pi) + t.lgamma(a[..., None] - t.arange(p, dtype=a.dtype, device=a.device) / 2).sum(-1)

class IW(t.nn.Module):
    """Inverse Wishart layer. dof: 'exact' uses one test point at a time (P_t = 1); 'published' uses the batch size."""
    def __init__(s, R, P, dof='exact', **k):
        super().__init__()
        s.P, s.dof = P, dof
        s.ld = t.nn.Parameter(t.zeros(R, 1, **k)); s.lg = t.nn.Parameter(t.zeros(R, 1, **k))
        s.ls = t.nn.Parameter(t.zeros(R, 1, **k)); s.V = t.nn.Parameter(t.randn(R, 1, P, P, **k))
    def draw(s, psi_p, Lp, S):
        """G ~ Q, log P(G) - log Q(G), given prior scale psi_p (= delta K) and its cholesky"""
        P = s.P; de, ga = s.ld.exp(), s.lg.exp()
        nup = de + P + 1; nuq = nup + ga
        psi_q = psi_p + s.ls.exp()[..., None, None] * (s.V @ s.V.mT) / P
        Lq = chol(psi_q)
        shape = (*Lq.shape[:-3], S, P, P)
        Lq, psi_p_, Lp_ = [z.expand(*shape) if z.shape[-3] == 1 else z for z in (Lq, psi_p, Lp)]
        n = t.randn(shape, dtype=Lq.dtype, device=Lq.device).tril(-1)
        dofs = (nuq[..., None] - t.arange(P, dtype=Lq.dtype, device=Lq.device)).expand(*shape[:-1])
        c2 = 2 * t._standard_gamma((dofs / 2).contiguous())
        A = n + t.diag_embed(c2.sqrt())
        # G = Lq A^-T A^-1 Lq^T ; root C = Lq A^-T
        Ct = tri(A, Lq.mT)                # A^-1 Lq^T
        G = Ct.mT @ Ct
        ldG = logdet_chol(Lq) - c2.log().sum(-1)
        # tr(psi_q G^-1) = |A|_F^2 ; tr(psi_p G^-1) = |A^T Lq^-1 Lp|_F^2
        trq = (A ** 2).sum((-1, -2))
        trp = ((A.mT @ tri(Lq, Lp_)) ** 2).sum((-1, -2))
        def lp(nu, ldpsi, tr):
            return -(nu + P + 1) / 2 * ldG + nu / 2 * ldpsi - tr / 2 - nu * P / 2 * math.log(2) - mvlgamma(nu / 2, P)
        return G, lp(nup, logdet_chol(Lp), trp) - lp(nuq, logdet_chol(Lq), trq)
    def forward(s, ii, it, tt):
        de = s.ld.exp(); P = s.P; T = it.shape[-1]
        psi, pit, ptt = de[..., None, None] * ii, de[..., None, None] * it, de[..., None] * tt
        L = chol(psi)
        G, lpq = s.draw(psi, L, ii.shape[1])
        W = tri(L, pit)
        sch = (ptt - (W ** 2).sum(-2)).clamp(min=1e-12)
        al = (de + P + (1 if s.dof == 'exact' else T) + 1) / 2
        g = sch / 2 / t._standard_gamma(al[..., None].expand_as(sch).contiguous())
        B = tri(L, W + t.randn_like(W) * g.sqrt()[..., None, :], trans=True)
        git = G @ B
        return G, git, g + (git * B).sum(-2), lpq

class Input(IW):
    def __init__(s, R, D, **k): super().__init__(R, D, **k)
    def forward(s, xi, xt, S):
        D = s.P; de = s.ld.exp()
        eye = t.eye(D, dtype=xi.dtype, device=xi.device)
        psi = (de[..., None, None] * eye / D)
        L = (de / D).sqrt()[..., None, None] * eye
        Om, lpq = s.draw(psi, L, S)
        Oxt = Om @ xt.mT
        return xi @ Om @ xi.mT, xi @ Oxt, (xt.mT * Oxt).sum(-2), lpq

class GP(t.nn.Module):
    def __init__(s, R, P, u, **k):
        super().__init__()
        s.lsc = t.nn.Parameter(t.full((R, 1, 1, 1), -2., **k)); s.Lr = t.nn.Parameter(t.eye(P, **k).expand(R, 1, P, P).clone())
        s.v = t.nn.Parameter(u.clone())
    def forward(s, ii, it, tt):
        nrm = s.Lr.diagonal(dim1=-1, dim2=-2).mean(-1)[..., None, None]
        Lr = s.Lr * s.lsc.exp() / nrm
        P = ii.shape[-1]; eye = t.eye(P, dtype=ii.dtype, device=ii.device)
        KL = ii @ Lr
        C = chol(Lr.mT @ KL + eye)
        L = chol(ii)
        Z = tri(C, KL.mT)
        Sig = ii - Z.mT @ Z
        O = s.v.shape[-1]
        z1 = t.randn(*ii.shape[:-1], O, dtype=ii.dtype, device=ii.device); z2 = t.randn_like(z1)
        u = Sig @ (Lr @ (Lr.mT @ s.v) + tri(L, z1, trans=True) + Lr @ z2)
        lv = (Lr.mT @ s.v)
        logP = -0.5 * (tri(C, lv.expand(*z1.shape)) ** 2).sum((-1, -2)) - O / 2 * logdet_chol(C)
        logQ = -0.5 * ((lv - Lr.mT @ u) ** 2).sum((-1, -2))
        W = tri(L, it)
        m = W.mT @ tri(L, u)
        v = (tt - (W ** 2).sum(-2)).clamp(min=1e-12)
        f = m + v.sqrt()[..., None] * t.randn_like(m)
        return f, logP - logQ, m, v

class Net(t.nn.Module):
    def __init__(s, model, kern, R, P, D, xi, yi, dof, layers=2, **k):
        super().__init__()
        K = dict(sqexp=SqExp, relu=Relu)[kern]
        s.model = model
        s.sc = t.nn.Parameter(t.ones(R, 1, 1, D, **k)); s.b = t.nn.Parameter(t.zeros(R, 1, 1, D, **k))
        s.xi = t.nn.Parameter(xi.clone())
        s.ks = t.nn.ModuleList([K(R, **k) for _ in range(layers + 1)])
        if model == 'diwp':
            s.inp = Input(R, D, dof=dof, **k)
            s.iws = t.nn.ModuleList([IW(R, P, dof=dof, **k) for _ in range(layers)])
        s.gp = GP(R, P, yi, **k)
        s.lsd = t.nn.Parameter(t.full((R, 1), -1., **k))
    def forward(s, X, S):
        xi, xt = (s.xi + s.b) * s.sc, (X + s.b) * s.sc
        lpq = 0.
        if s.model == 'diwp':
            ii, it, tt, l = s.inp(xi, xt, S); lpq = lpq + l
        else:
            D = X.shape[-1]; e = lambda z: z.expand(z.shape[0], S, *z.shape[2:])
            ii, it, tt = e(xi @ xi.mT / D), e(xi @ xt.mT / D), e((xt ** 2).sum(-1) / D)
        for j, k in enumerate(s.ks):
            ii, it, tt = k(ii, it, tt)
            if s.model == 'diwp' and j < len(s.iws):
                ii, it, tt, l = s.iws[j](ii, it, tt); lpq = lpq + l
        f, l, m, v = s.gp(ii, it, tt)
        return f, lpq + l, m, v

def run(a):
    dt = t.float64 if a.f64 else t.float32
    dev = a.device
    t.manual_seed(a.seed)
    Ds = [load(a.data, a.dataset, i, dt) for i in range(a.splits)]
    variants = json.loads(a.variants) if a.variants else [{}]
    Ds = Ds * len(variants)
    Xtr = t.stack([d[0] for d in Ds])[:, None].to(dev); ytr = t.stack([d[1] for d in Ds])[:, None].to(dev)
    nte = min(d[2].shape[0] for d in Ds)
    Xte = t.stack([d[2][:nte] for d in Ds])[:, None].to(dev); yte = t.stack([d[3][:nte] for d in Ds])[:, None].to(dev)
    lys = t.tensor([math.log(d[4]) for d in Ds])
    R, _, N, D = Xtr.shape
    P = a.inducing
    perm = t.randperm(N)[:P]
    net = Net(a.model, a.kernel, R, P, D, Xtr[:, :, perm], ytr[:, :, perm], a.dof, a.layers, dtype=dt, device=dev).to(dev)
    if a.variants:
        with t.no_grad():
            for i, v in enumerate(variants):
                r = slice(i * a.splits, (i + 1) * a.splits)
                if a.model == 'diwp':
                    for m, pre in [(net.inp, 'i')] + [(m, '') for m in net.iws]:
                        for par in ('ld', 'lg', 'ls'):
                            if pre + par in v: getattr(m, par)[r] = v[pre + par]
                        if pre + 'V' in v: m.V[r] *= v[pre + 'V']
                        if pre + 'eye' in v: m.V[r] = v[pre + 'eye'] * t.eye(m.P, dtype=dt, device=dev)
                if 'lsd' in v: net.lsd[r] = v['lsd']
                if 'lsc' in v: net.gp.lsc[r] = v['lsc']
    opt = t.optim.Adam(net.parameters(), lr=a.lr)
    S = a.samples
    t0 = time.time(); hist = []
    bs = a.batch or N
    for i in range(a.steps):
        if i == a.steps // 2:
            for g in opt.param_groups: g['lr'] = a.lr / 10
        if bs < N:
            ix = t.randint(0, N, (bs,), device=dev); X, y = Xtr[:, :, ix], ytr[:, :, ix]
        else: X, y = Xtr, ytr
        f, lpq, m, v = net(X, S)
        sd2 = (2 * net.lsd).exp()
        ll = -0.5 * math.log(2 * math.pi) - 0.5 * sd2.log()[..., None, None] - 0.5 * (y - f) ** 2 / sd2[..., None, None]
        elbo = (ll.sum(-1).mean(-1) + lpq / N).mean(-1)
        opt.zero_grad(set_to_none=True)
        (-elbo.nansum()).backward()
        if a.clip:
            for p in net.parameters():
                if p.grad is not None: p.grad.nan_to_num_(0, 0, 0)
        opt.step()
        if i == 20:
            if dev == 'cuda': t.cuda.synchronize()
            t1 = time.time()
        if i % max(1, a.steps // 8) == 0 and not a.quiet:
            print(i, [round(z, 3) for z in elbo.detach().cpu()[:4].tolist()], f"{time.time()-t0:.0f}s", flush=True)
    if dev == 'cuda': t.cuda.synchronize()
    ms = (time.time() - t1) / max(1, a.steps - 21) * 1e3
    with t.no_grad():
        lls, mus = [], []
        for _ in range(a.test_samples // 10):
            f, lpq, m, v = net(Xte, 10)
            s2 = v[..., None] + (2 * net.lsd).exp()[..., None, None]
            lls.append((-0.5 * (2 * math.pi * s2).log() - 0.5 * (yte - m) ** 2 / s2).sum(-1)); mus.append(m)
        L = t.cat(lls, 1); L = L.logsumexp(1) - math.log(L.shape[1])
        rmse = ((t.cat(mus, 1).mean(1) - yte[:, 0]) ** 2).mean((-1, -2)).sqrt().cpu() * lys.exp()
        ll = L.mean(-1).cpu() - lys
        el = elbo.detach().cpu() - lys
    q = lambda z: (z[~z.isnan()].mean().item(), (z[~z.isnan()].std() / max(1, (~z.isnan()).sum()) ** .5).item())
    out = dict(dataset=a.dataset, model=a.model, kernel=a.kernel, dof=a.dof, layers=a.layers, R=R, S=S, P=P, N=N, D=D, bs=bs, ms_per_step=ms,
               nan=int(ll.isnan().sum()), test_ll=q(ll), elbo=q(el), rmse=q(rmse), per_split=[round(z, 4) for z in ll.tolist()])
    if a.variants:
        for i, v in enumerate(variants):
            r = slice(i * a.splits, (i + 1) * a.splits)
            extra = [[round(m.ld[r].mean().item(), 2), round(m.lg[r].mean().item(), 2), round(m.ls[r].mean().item(), 2)] for m in ([net.inp, *net.iws] if a.model == 'diwp' else [])]
            print(json.dumps(dict(dataset=a.dataset, kernel=a.kernel, dof=a.dof, variant=v, test_ll=q(ll[r]), elbo=q(el[r]), rmse=q(rmse[r]), nan=int(ll[r].isnan().sum()), ld_lg_ls=extra)), flush=True)
        print(f"{ms:.1f} ms/step")
    else: print(json.dumps(out), flush=True)

if __name__ == '__main__':
    p = argparse.ArgumentParser()
    for n, d in dict(data='', dataset='boston', model='diwp', kernel='sqexp', dof='exact', device='cpu', variants='').items(): p.add_argument('--' + n, default=d)
    for n, d in dict(splits=1, inducing=100, samples=10, steps=100, seed=0, batch=0, test_samples=100, layers=2).items(): p.add_argument('--' + n, type=int, default=d)
    p.add_argument('--lr', type=float, default=1e-2); p.add_argument('--f64', type=int, default=1); p.add_argument('--clip', type=int, default=1); p.add_argument('--quiet', type=int, default=0)
    run(p.parse_args())
