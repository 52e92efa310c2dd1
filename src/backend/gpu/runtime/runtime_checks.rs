//! Runtime checks that wgpu injects into kernels, which a kernel may omit where they are proven redundant.

/// The runtime checks of a kernel. A device opened with checked shaders injects all of them into every kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RuntimeChecks {
    /// Bounds checks of storage buffers and arrays.
    bounds: bool,
    /// Bounds every loop by 2^64 iterations, so that compilers cannot assume that it is infinite.
    loops: bool,
}

impl RuntimeChecks {
    /// All checks; correct for every kernel.
    pub(crate) const ALL: Self = Self { bounds: true, loops: true };

    /// Omits the bound on loops.
    ///
    /// # Safety
    /// Every loop of the kernel terminates for any contents of the buffers.
    pub(crate) const unsafe fn without_loops(self) -> Self {
        Self { loops: false, ..self }
    }

    /// Omits bounds checks.
    ///
    /// # Safety
    /// Every index of the kernel is in bounds of its array or of the bound range of its buffer, for any contents of the
    /// buffers: the user's program can write to them (see [`Device::as_wgpu`](crate::Device::as_wgpu)).
    pub(crate) const unsafe fn without_bounds(self) -> Self {
        Self { bounds: false, ..self }
    }

    /// Restores bounds checks.
    pub(crate) const fn with_bounds(self) -> Self {
        Self { bounds: true, ..self }
    }

    /// Whether accesses are kept within their arrays.
    pub(super) const fn bounds(self) -> bool {
        self.bounds
    }

    /// Whether loops are bounded.
    pub(super) const fn loops(self) -> bool {
        self.loops
    }

    pub(super) fn compile(
        self,
        device: &wgpu::Device,
        descriptor: wgpu::ShaderModuleDescriptor<'_>,
    ) -> wgpu::ShaderModule {
        if self == Self::ALL {
            return device.create_shader_module(descriptor);
        }
        // Division keeps its guards, since results depend on wgpu's definition of integer division by zero.
        let mut checks = wgpu::ShaderRuntimeChecks::checked();
        (checks.bounds_checks, checks.force_loop_bounding) = (self.bounds, self.loops);
        // SAFETY: the callers of `without_loops` and `without_bounds` have vouched for every omitted check.
        unsafe { device.create_shader_module_trusted(descriptor, checks) }
    }
}
